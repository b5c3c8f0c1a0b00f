-- Gives the lease back. KEYS: lease. ARGV: gate.
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('UNLINK', KEYS[1]) end
return 1
