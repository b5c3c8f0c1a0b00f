-- Drops entries that are too old or more than enough, never one behind the kept snapshot. Works in a full store.
-- KEYS: head, log. ARGV: greatest age in milliseconds, most bytes.
-- Answers how many entries went.
local head = redis.call('HMGET', KEYS[1], 'epoch', 'saved', 'bytes')
if not head[2] then return 0 end
local epoch, total, since = head[1], tonumber(head[3]), now() - tonumber(ARGV[1])
local first = redis.call('XRANGE', KEYS[2], '-', '+', 'COUNT', 1)[1]
if not first then return 0 end

local function field(entry, name)
  for i = 1, #entry[2], 2 do
    if entry[2][i] == name then return tonumber(entry[2][i + 1]) end
  end
end

-- Sequences are dense, so the first entry that stays is found by halves.
local from = tonumber(string.match(first[1], '%-(%d+)$'))
local low, high, dropped = from, tonumber(head[2]) + 1, nil
while low < high do
  local middle = math.floor((low + high) / 2)
  local id = epoch .. '-' .. digits(middle)
  local entry = redis.call('XRANGE', KEYS[2], id, id)[1]
  local bytes = entry and field(entry, 'bytes') or 0
  if not entry or field(entry, 'time') <= since or total - bytes >= tonumber(ARGV[2]) then
    low, dropped = middle + 1, bytes
  else
    high = middle
  end
end
if low == from then return 0 end
redis.call('XTRIM', KEYS[2], 'MINID', epoch .. '-' .. digits(low))
redis.call('HSET', KEYS[1], 'dropped', digits(dropped))
return low - from
