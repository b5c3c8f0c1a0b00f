-- Takes or keeps the lease of the certificates, unless another gate has it. KEYS: lease. ARGV: gate, milliseconds.
local held = redis.call('GET', KEYS[1])
if held and held ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
