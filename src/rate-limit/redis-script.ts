import type { Result } from 'ioredis';
import type { RedisClient } from '../redis/redis-client';
import { DAY_MS, FREE_FACTOR, MINUTE_MS } from './plans';
import { STATE_FIELDS, type State, type Verdict, WINDOW_FIELDS } from './rules';

/** The script receives one of these codes instead of a number of requests, for requests and commands that use no quota. */
export const CODES = { free: 0, page: -1, peek: -2, lift: -3 } as const;

/** The fields that the script returns after each request: counts, and milliseconds until windows and bans end. */
export const REPORTED = [
  'minuteUsed',
  'minuteEnds',
  'dayUsed',
  'dayEnds',
  'freeUsed',
  'freeEnds',
  'bannedUntil',
] as const satisfies readonly (keyof State)[];

/** The script returns the index of a verdict. */
export const VERDICTS: readonly Verdict[] = ['allowed', 'limited', 'banned', 'too-expensive'];

/**
 * The rules of rules.ts in Lua, with the clock of Redis. Redis runs a script atomically, so no other instance can count
 * between the check and the update. One call decides several requests of a caller in sequence. It writes only changed
 * fields, since formatting a number costs more than a decision.
 *
 * KEYS[1]: the caller's hash. KEYS[2]: the hash whose windows apply instead of the caller's windows, if the caller shares
 * windows; in Redis Cluster, it is in the same slot. ARGV: banAfter, the first ban in ms, the longest ban in ms, then for each
 * request perMinute, perDay, and the number of requests or one of CODES.
 * @returns for each request: the index of its verdict, then the values of REPORTED. (On `lift` the verdict is `banned` if
 * there was a ban.)
 */
const BAN_FIELDS = STATE_FIELDS.filter((field) => !(WINDOW_FIELDS as readonly string[]).includes(field));

const SCRIPT = `
local ALLOWED, LIMITED, BANNED, TOO_EXPENSIVE = 0, 1, 2, 3
local FIELDS = { ${STATE_FIELDS.map((field) => `'${field}'`).join(', ')} }
local BAN_FIELDS = { ${BAN_FIELDS.map((field) => `'${field}'`).join(', ')} }
local WINDOW_FIELDS = { ${WINDOW_FIELDS.map((field) => `'${field}'`).join(', ')} }
local banAfter, banMs, banMaxMs = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local perMinute, perDay

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local stored = redis.call('HMGET', KEYS[1], unpack(FIELDS))
local state = {}
for i, field in ipairs(FIELDS) do state[field] = tonumber(stored[i]) or 0 end
if KEYS[2] then
  local shared = redis.call('HMGET', KEYS[2], unpack(WINDOW_FIELDS))
  for i, field in ipairs(WINDOW_FIELDS) do state[field] = tonumber(shared[i]) or 0 end
end

local before = {}
for _, field in ipairs(FIELDS) do before[field] = state[field] end

local function lastBanMs()
  return math.min(banMs * 2 ^ math.max(state.bans - 1, 0), banMaxMs)
end

local function isOver(ends, length)
  return ends <= now or ends > now + length
end

local function forget(count, ends, length)
  if isOver(state[ends], length) then state[count], state[ends] = 0, 0 end
end
if isOver(state.bannedUntil, lastBanMs()) then state.bannedUntil = 0 end
forget('minuteUsed', 'minuteEnds', ${MINUTE_MS})
forget('dayUsed', 'dayEnds', ${DAY_MS})
forget('freeUsed', 'freeEnds', ${MINUTE_MS})
forget('refusals', 'refusalsEnd', math.max(state.minuteEnds, state.dayEnds, state.freeEnds) - now)
if state.bannedUntil == 0 then forget('bans', 'bansEnd', ${DAY_MS}) end

local function reject(windowEnds)
  state.refusals = state.refusals + 1
  state.refusalsEnd = math.max(state.refusalsEnd, windowEnds)
  if state.refusals >= banAfter then
    state.bans = state.bans + 1
    state.bannedUntil = now + lastBanMs()
    state.bansEnd = now + ${DAY_MS}
    state.refusals, state.refusalsEnd = 0, 0
  end
  return LIMITED
end

local function takeCounted(requests)
  if not (requests <= perMinute and requests <= perDay) then return TOO_EXPENSIVE end
  local overMinute = not (state.minuteUsed + requests <= perMinute)
  local overDay = not (state.dayUsed + requests <= perDay)
  if overMinute or overDay then
    return reject(math.max(overMinute and state.minuteEnds or 0, overDay and state.dayEnds or 0))
  end
  if state.minuteEnds == 0 then state.minuteEnds = now + ${MINUTE_MS} end
  if state.dayEnds == 0 then state.dayEnds = now + ${DAY_MS} end
  state.minuteUsed = state.minuteUsed + requests
  state.dayUsed = state.dayUsed + requests
  return ALLOWED
end

local function hasFree()
  return state.freeUsed < perMinute * ${FREE_FACTOR}
end

local function takeFree()
  if not hasFree() then return reject(state.freeEnds) end
  if state.freeEnds == 0 then state.freeEnds = now + ${MINUTE_MS} end
  state.freeUsed = state.freeUsed + 1
  return ALLOWED
end

local function decide(code)
  local isBanned = not (state.bannedUntil <= now)
  if code == ${CODES.lift} and isBanned then state.bannedUntil = 0 end
  if isBanned and not (code == ${CODES.page} and hasFree()) then return BANNED end
  if code == ${CODES.peek} or code == ${CODES.lift} then return ALLOWED end
  if code > 0 then return takeCounted(code) end
  return takeFree()
end

local function left(ends)
  return math.max(ends - now, 0)
end

local decisions = {}
for i = 4, #ARGV, 3 do
  perMinute, perDay = tonumber(ARGV[i]), tonumber(ARGV[i + 1])
  decisions[#decisions + 1] = decide(tonumber(ARGV[i + 2]))
${REPORTED.map((field) => `  decisions[#decisions + 1] = ${field.endsWith('Used') ? `state.${field}` : `left(state.${field})`}`).join('\n')}
end

local function write(key, fields, last)
  local changes = {}
  for _, field in ipairs(fields) do
    if state[field] ~= before[field] then
      changes[#changes + 1] = field
      changes[#changes + 1] = state[field]
    end
  end
  if #changes == 0 then return end
  redis.call('HSET', key, unpack(changes))
  redis.call('PEXPIRE', key, last - now)
end
local windowsEnd = math.max(state.minuteEnds, state.dayEnds, state.freeEnds)
local bansEnd = math.max(state.refusalsEnd, state.bansEnd, state.bannedUntil)
if KEYS[2] then
  -- The owner of the windows may have bans that last longer.
  write(KEYS[2], WINDOW_FIELDS, math.max(windowsEnd, now + redis.call('PTTL', KEYS[2])))
  write(KEYS[1], BAN_FIELDS, bansEnd)
else
  write(KEYS[1], FIELDS, math.max(windowsEnd, bansEnd))
end
return decisions
`;

/**
 * Defines the script as a command. The client sends the script in full once per connection, and afterwards only its hash.
 */
export function defineScript(redis: RedisClient): void {
  redis.defineCommand('rateLimit', { numberOfKeys: 1, lua: SCRIPT });
  redis.defineCommand('rateLimitShared', { numberOfKeys: 2, lua: SCRIPT });
}

declare module 'ioredis' {
  interface RedisCommander<Context> {
    rateLimit(key: string, ...args: number[]): Result<number[], Context>;
    rateLimitShared(key: string, windows: string, ...args: number[]): Result<number[], Context>;
  }
}
