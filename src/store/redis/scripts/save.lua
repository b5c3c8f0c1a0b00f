-- Puts a snapshot that was written beside the kept one in its place, unless that is as late, or later than the log.
-- KEYS: head, kept snapshot, the other. ARGV: its epoch and sequence.
-- Answers 1 when it was put there.
local head = redis.call('HMGET', KEYS[1], 'epoch', 'sequence', 'saved')
local sequence = tonumber(ARGV[2])
if head[1] ~= ARGV[1] or sequence > tonumber(head[2]) or sequence <= tonumber(head[3] or '-1') then
  redis.call('UNLINK', KEYS[3])
  return 0
end
redis.call('RENAME', KEYS[3], KEYS[2])
redis.call('PERSIST', KEYS[2])
redis.call('HSET', KEYS[1], 'saved', ARGV[2])
return 1
