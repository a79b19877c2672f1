import { type HrTime, ValueType } from '@opentelemetry/api';
import type { Resource } from '@opentelemetry/resources';
import { AggregationTemporality, DataPointType, type MetricData, type MetricProducer } from '@opentelemetry/sdk-metrics';
import type { Counter, Gauge, Histogram, Labels } from './instruments.ts';
import { counters, gauges, histograms, sharedGauges } from './metrics.ts';

/** Returns the metrics of /metrics, without those of Node.js, as the SDK exports them. */
export function metricProducer(resource: Resource): MetricProducer {
  const startTime = hrTimeOf(Date.now() - process.uptime() * 1000);
  return {
    async collect() {
      const endTime = hrTimeOf(Date.now());
      const at = (labels: Labels) => ({ startTime, endTime, attributes: { ...labels } });
      const read = await Promise.all([...gauges, ...sharedGauges].map((gauge) => gaugeData(gauge, at)));
      const metrics = [
        ...counters.map((counter) => counterData(counter, at)),
        ...histograms.map((histogram) => histogramData(histogram, at)),
        ...read,
      ];
      return { resourceMetrics: { resource, scopeMetrics: [{ scope: { name: 'emailauth' }, metrics }] }, errors: [] };
    },
  };
}

type At = (labels: Labels) => { startTime: HrTime; endTime: HrTime; attributes: Record<string, string> };

const baseOf = ({ name, help }: { name: string; help: string }) => ({
  descriptor: { name, description: help, unit: name.endsWith('_seconds') ? 's' : '', valueType: ValueType.DOUBLE },
  aggregationTemporality: AggregationTemporality.CUMULATIVE,
});

function counterData(counter: Counter, at: At): MetricData {
  const dataPoints = counter.points().map(({ labels, value }) => ({ ...at(labels), value }));
  return { ...baseOf(counter), dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints };
}

async function gaugeData(gauge: Gauge, at: At): Promise<MetricData> {
  const dataPoints = (await gauge.points()).map(({ labels = {}, value }) => ({ ...at(labels), value }));
  return { ...baseOf(gauge), dataPointType: DataPointType.GAUGE, dataPoints };
}

function histogramData(histogram: Histogram, at: At): MetricData {
  const dataPoints = histogram.points().map(({ labels, counts, sum }) => ({
    ...at(labels),
    value: {
      buckets: { boundaries: [...histogram.bounds], counts: [...counts] },
      sum,
      count: counts.reduce((total, count) => total + count, 0),
    },
  }));
  return { ...baseOf(histogram), dataPointType: DataPointType.HISTOGRAM, dataPoints };
}

const hrTimeOf = (ms: number): HrTime => [Math.trunc(ms / 1000), Math.trunc((ms % 1000) * 1e6)];
