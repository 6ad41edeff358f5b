import type { Result } from 'ioredis';
import type { RedisClient } from '../redis/redis-client';
import { DAY_MS, FREE_FACTOR, MINUTE_MS } from './plans';
import { STATE_FIELDS } from './state';

/*
 * The rules of rules.ts in Lua: Redis runs a script atomically, so deciding and taking are one step for all instances. A
 * library's counters are one window each: with them a cost could be taken from one window and not from the other.
 * KEYS[1] is the caller's hash, the only key, as Redis Cluster requires. The clock is Redis's, shared by all.
 */

/** How requests that take nothing from the quota are written among the costs, by their kind. */
export const FREE_COSTS = { free: 0, page: -1 } as const;

const READ = `
local FIELDS = { ${STATE_FIELDS.map((field) => `'${field}'`).join(', ')} }
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local stored = redis.call('HMGET', KEYS[1], unpack(FIELDS))
local state, found = {}, { now }
for i, field in ipairs(FIELDS) do
  state[field] = tonumber(stored[i]) or 0
  found[i + 1] = state[field]
end
`;

/** @returns Redis's clock, then the state in the order of STATE_FIELDS. */
const PEEK = `${READ}
return found
`;

/**
 * Takes for several requests of one caller in sequence. ARGV: perMinute, perDay, banAfter, ban in ms, longest ban in
 * ms, then the cost of each request, or its FREE_COSTS.
 * @returns Redis's clock, then the state before the requests, in the order of STATE_FIELDS: the outcome follows from
 * the rules. Only changed fields are written: formatting a number costs more than deciding.
 */
const TAKE = `${READ}
local perMinute, perDay = tonumber(ARGV[1]), tonumber(ARGV[2])
local banAfter, banMs, banMaxMs = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])

local function forget(count, ends)
  if state[ends] <= now then state[count], state[ends] = 0, 0 end
end

local function refuse(windowEnds)
  state.refusals = state.refusals + 1
  state.refusalsEnd = math.max(state.refusalsEnd, windowEnds)
  if state.refusals < banAfter then return end
  state.bannedUntil = now + math.min(banMs * 2 ^ state.bans, banMaxMs)
  state.bans = state.bans + 1
  state.bansEnd = now + ${DAY_MS}
  state.refusals, state.refusalsEnd = 0, 0
end

local function takeCounted(cost)
  if cost > perMinute or cost > perDay then return end
  local overMinute = state.minuteUsed + cost > perMinute
  local overDay = state.dayUsed + cost > perDay
  if overMinute or overDay then
    return refuse(math.max(overMinute and state.minuteEnds or 0, overDay and state.dayEnds or 0))
  end
  if state.minuteEnds == 0 then state.minuteEnds = now + ${MINUTE_MS} end
  if state.dayEnds == 0 then state.dayEnds = now + ${DAY_MS} end
  state.minuteUsed = state.minuteUsed + cost
  state.dayUsed = state.dayUsed + cost
end

local function hasFree()
  return state.freeUsed < perMinute * ${FREE_FACTOR}
end

local function takeFree()
  if not hasFree() then return refuse(state.freeEnds) end
  if state.freeEnds == 0 then state.freeEnds = now + ${MINUTE_MS} end
  state.freeUsed = state.freeUsed + 1
end

forget('minuteUsed', 'minuteEnds')
forget('dayUsed', 'dayEnds')
forget('freeUsed', 'freeEnds')
forget('refusals', 'refusalsEnd')
forget('bans', 'bansEnd')

for i = 6, #ARGV do
  local cost = tonumber(ARGV[i])
  local isExempt = cost == ${FREE_COSTS.page} and hasFree()
  if state.bannedUntil <= now or isExempt then
    if cost > 0 then takeCounted(cost) else takeFree() end
  end
end

local changes = {}
for i, field in ipairs(FIELDS) do
  if state[field] ~= found[i + 1] then
    changes[#changes + 1] = field
    changes[#changes + 1] = state[field]
  end
end
if #changes > 0 then
  local last = math.max(state.minuteEnds, state.dayEnds, state.freeEnds, state.refusalsEnd, state.bansEnd, state.bannedUntil)
  redis.call('HSET', KEYS[1], unpack(changes))
  redis.call('PEXPIRE', KEYS[1], last - now)
end
return found
`;

/** @returns 1 if there was a ban to lift. */
const LIFT = `${READ}
if state.bannedUntil <= now then return 0 end
redis.call('HSET', KEYS[1], 'bannedUntil', 0)
return 1
`;

/** The scripts as commands: sent in full once per connection, then by hash. */
export function defineScripts(redis: RedisClient): void {
  redis.defineCommand('rateLimitTake', { numberOfKeys: 1, lua: TAKE });
  redis.defineCommand('rateLimitPeek', { numberOfKeys: 1, lua: PEEK });
  redis.defineCommand('rateLimitLift', { numberOfKeys: 1, lua: LIFT });
}

declare module 'ioredis' {
  interface RedisCommander<Context> {
    rateLimitTake(key: string, ...args: number[]): Result<number[], Context>;
    rateLimitPeek(key: string): Result<number[], Context>;
    rateLimitLift(key: string): Result<number, Context>;
  }
}
