-- Notes an entry to be passed over. KEYS: skips. ARGV: the entry's id, most that are noted.
if redis.call('SCARD', KEYS[1]) >= tonumber(ARGV[2]) and redis.call('SISMEMBER', KEYS[1], ARGV[1]) == 0 then
  return redis.error_reply('ERR as many entries as may be are skipped already')
end
return redis.call('SADD', KEYS[1], ARGV[1])
