-- The id of the store's history, or an error: a replica takes nothing, and a store without an id proves nothing.
local function history()
  local info = redis.call('INFO', 'replication')
  if not string.find(info, 'role:master', 1, true) then
    return nil, redis.error_reply('READONLY this server is a replica')
  end
  local id = string.match(info, 'master_replid:(%x+)')
  if not id or not string.find(id, '[^0]') then
    return nil, redis.error_reply('ERR the server does not show its replication id (INFO replication)')
  end
  return id
end

local function now()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

-- Digits, where Lua would write 1e+15.
local function digits(number)
  return string.format('%.0f', number)
end
