-- Begins a log with its first entry if the epoch is still the one seen. The old log's snapshot stays until a
-- snapshot of the new one takes its place: until then it may be all that there is.
-- KEYS: head, log, skips. ARGV: epoch seen, new epoch, gate, serial, version, nonce, batch.
-- Answers 1 or 0 and the log's epoch.
local id, fault = history()
if fault then return fault end
local epoch = redis.call('HGET', KEYS[1], 'epoch') or '0'
-- Sent again, because the answer was lost: it was this gate that began.
if epoch == ARGV[2] then return {1, epoch} end
if epoch ~= ARGV[1] then return {0, epoch} end
-- A first write that frees memory, so that those behind it may run in a full store.
redis.call('UNLINK', KEYS[2], KEYS[1], KEYS[3])
local bytes = #ARGV[7] + 100
redis.call('XADD', KEYS[2], ARGV[2] .. '-1', 'gate', ARGV[3], 'serial', ARGV[4], 'previous', string.rep('\0', 8),
  'nonce', ARGV[6], 'time', digits(now()), 'version', ARGV[5], 'bytes', digits(bytes), 'batch', ARGV[7])
redis.call('HSET', KEYS[1], 'epoch', ARGV[2], 'sequence', '1', 'nonce', ARGV[6], 'replid', id,
  'bytes', digits(bytes), 'dropped', '0')
return {1, ARGV[2]}
