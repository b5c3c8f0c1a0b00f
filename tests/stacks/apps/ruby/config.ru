# How Rack reads a request: `puma -b tcp://127.0.0.1:PORT config.ru`. A line a value: the thing, the reader, the value in
# hexadecimal digits.
require 'json'
require 'rack'

def leaves(value)
  case value
  when nil then []
  when Hash then value.values.flat_map { |inner| leaves(inner) }
  when Array then value.flat_map { |inner| leaves(inner) }
  else [value.to_s]
  end
end

def lines(thing, reader, value)
  leaves(value).map { |leaf| "#{thing} #{reader} #{leaf.unpack1('H*')}\n" }.join
end

run(lambda do |env|
  request = Rack::Request.new(env)
  said = +''
  begin
    found = %r{\A/event/([^/]+)}.match(env['PATH_INFO'])
    said << lines('event', 'PATH_INFO', found && Rack::Utils.unescape_path(found[1]))
    kind = env['CONTENT_TYPE'].to_s
    json = kind.downcase.include?('json')
    %w[id event_id].each do |name|
      said << lines(name, 'GET', request.GET[name])
      said << lines(name, 'params', request.params[name])
    end
    said << lines('user', 'env', env['HTTP_X_USER'])
    said << lines('sid', 'cookies', request.cookies['sid'])
    said << lines('email', 'POST', request.POST['email']) unless json
    if json
      env['rack.input'].rewind
      body = JSON.parse(env['rack.input'].read)
      said << lines('email', 'JSON', body.is_a?(Hash) ? body['email'] : nil)
    end
    [200, { 'Content-Type' => 'text/plain' }, [said]]
  rescue StandardError
    # What a parser refuses is read as nothing.
    [400, { 'Content-Type' => 'text/plain' }, ['']]
  end
end)
