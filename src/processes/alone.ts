import type { Config } from '../config';
import { serveMetrics } from '../http/routes/metrics-server';
import { banner } from './banner';
import { stopOnSignals } from './ending';
import { prepare } from './service';

/** One process that does everything. */
export async function serveAlone(config: Config): Promise<void> {
  const service = await prepare(config);
  stopOnSignals(async () => {
    await service.closePort();
    await service.finish();
  });
  const metricsAt = await serveMetrics(service.metrics, config.METRICS_PORT, config.HOST);
  process.stdout.write(banner(await service.listen(), { metricsAt }));
}
