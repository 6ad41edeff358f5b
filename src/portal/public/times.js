// @ts-check
// All pages show times in UTC, like the log, the messages of errors, and the days of the usage.

/** @param {string | number} time @returns {string} such as `Nov 28, 2026` */
export const dayOf = (time) => format(time, { dateStyle: 'medium' });

/** @param {string | number} time @returns {string} such as `Nov 28, 2026, 14:05 UTC` */
export const momentOf = (time) => `${format(time, { dateStyle: 'medium', timeStyle: 'short' })} UTC`;

/** @param {string | number} time @returns {string} such as `14:05 UTC` */
export const timeOf = (time) => `${format(time, { timeStyle: 'short' })} UTC`;

/** @param {string | number} time @param {Intl.DateTimeFormatOptions} options */
const format = (time, options) =>
  new Date(time).toLocaleString('en', { ...options, timeZone: 'UTC', hourCycle: 'h23' });

/** Replaces the RFC 3339 times in a message. @param {string} message */
export const inUtc = (message) => message.replace(/\b\d{4}-\d\d-\d\dT[\d:.]+Z/g, momentOf);

/** @param {number} milliseconds @returns {string} such as `43 s`, `12 min` or `24 h` */
export function spellDuration(milliseconds) {
  const seconds = Math.max(0, Math.ceil(milliseconds / 1000));
  if (seconds < 100) return `${seconds} s`;
  if (seconds < 6000) return `${Math.round(seconds / 60)} min`;
  return `${Math.round(seconds / 3600)} h`;
}
