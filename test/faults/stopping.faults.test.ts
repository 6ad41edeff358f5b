import { allAnswered, burstBefore } from '../helper/burst';
import { ADMIN_KEY } from '../helper/gateway';
import { Installation } from '../helper/installation';
import { GatewayProcess } from '../helper/process';
import { createProduction, onServers } from '../helper/production';

const BURSTS = 20;
const CONNECTIONS = 100;
/** How long so many starts and stops may take on a busy machine, in milliseconds. */
const MANY_STARTS = 400_000;

test(
  '100 connections opened just before SIGTERM are all answered, 20 times',
  async () => {
    const installation = new Installation({ ADMIN_API_KEY: ADMIN_KEY });
    for (let burst = 0; burst < BURSTS; burst++)
      expect(await burstBefore(await installation.start(), CONNECTIONS)).toEqual(allAnswered(CONNECTIONS));
    installation.remove();
  },
  MANY_STARTS,
);

onServers('several workers', () => {
  test(
    'answer 100 connections opened just before SIGTERM, 20 times',
    async () => {
      const { environment, drop } = await createProduction();
      for (let burst = 0; burst < BURSTS; burst++) {
        const gateway = await GatewayProcess.start({ ...environment, WEB_CONCURRENCY: '2' });
        expect(await burstBefore(gateway, CONNECTIONS)).toEqual(allAnswered(CONNECTIONS));
      }
      await drop();
    },
    MANY_STARTS,
  );
});
