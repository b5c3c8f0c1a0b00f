-- Refuses a reader who stands in another history; else appends the batch, if there is one.
-- KEYS: head, log. ARGV: epoch, sequence applied; to append also gate, serial, version, nonce, batch.
-- Answers 1 or 0, the log's epoch, its last sequence, the bytes it holds, and the kept snapshot's sequence.
local id, fault = history()
if fault then return fault end
local head = redis.call('HMGET', KEYS[1], 'epoch', 'sequence', 'nonce', 'replid', 'bytes', 'dropped',
  'saved')
-- An epoch is above 2^53: it is compared as text.
if head[1] ~= ARGV[1] or head[4] ~= id or tonumber(head[2]) < tonumber(ARGV[2]) then
  return {0, head[1] or '0', '0', '0', '0'}
end
local sequence, bytes = head[2], tonumber(head[5])
if ARGV[3] then
  sequence = digits(tonumber(sequence) + 1)
  bytes = bytes + #ARGV[7] + 100
  -- The first write: what the store refuses altogether, for want of memory or of replicas, it refuses here.
  local added = redis.pcall('XADD', KEYS[2], head[1] .. '-' .. sequence, 'gate', ARGV[3], 'serial', ARGV[4],
    'previous', head[3], 'nonce', ARGV[6], 'time', digits(now()), 'version', ARGV[5], 'bytes', digits(bytes),
    'batch', ARGV[7])
  if type(added) == 'table' and added.err then
    -- Somebody else has written to the stream: a new log will make it anew.
    if string.find(added.err, 'equal or smaller', 1, true) then return {0, head[1], '0', '0', '0'} end
    return added
  end
  redis.call('HSET', KEYS[1], 'sequence', sequence, 'nonce', ARGV[6], 'bytes', digits(bytes))
end
return {1, head[1], sequence, digits(bytes - tonumber(head[6])), head[7] or '0'}
