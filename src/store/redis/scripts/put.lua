-- Writes records of certificates, if the gate has the lease. KEYS: lease, records. ARGV: gate, then names and records in turn. A
-- record without bytes is deleted.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
for at = 2, #ARGV, 2 do
  if ARGV[at + 1] == '' then
    redis.call('HDEL', KEYS[2], ARGV[at])
  else
    redis.call('HSET', KEYS[2], ARGV[at], ARGV[at + 1])
  end
end
return 1
