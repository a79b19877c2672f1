// A stage of its own: its service starts as the chart says.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { settings } from '../../../server/platform/settings.ts';
import { openStage, type Stage } from '../../support/harness.ts';
import { freshAddress, registerWebsite, visitorToken } from '../../support/sign-ins.ts';
import { deployFolder, hasHelm, helmProgram, type Manifest, manifestErrors, run, yamlParser } from './tools.ts';

if (!hasHelm) console.warn('\n!! The tests of the Helm chart are skipped: its program is for Linux on x64\n');

const chart = join(deployFolder, 'helm/emailauth');
const required = { 'settings.PUBLIC_URL': 'https://auth.example.com', secret: 'emailauth-settings', 'icons.claim': 'icons' };
const everything = {
  ...required,
  'autoscaling.enabled': 'true',
  'ingress.enabled': 'true',
  'ingress.className': 'nginx',
  'ingress.tlsSecret': 'tls',
  'networkPolicy.from[0].namespaceSelector.matchLabels.name': 'ingress-nginx',
  'metrics.serviceMonitor': 'true',
  'metrics.labels.release': 'prometheus',
  'imagePullSecrets[0].name': 'registry',
  'tolerations[0].operator': 'Exists',
  'nodeSelector.disk': 'ssd',
  'podAnnotations.checksum': 'a1',
};

type Environment = { name: string; value: string }[];
type Probe = { httpGet: { path: string }; periodSeconds: number; failureThreshold?: number };
type Pod = {
  terminationGracePeriodSeconds: number;
  volumes: { name: string }[];
  containers: { env: Environment; image: string; startupProbe: Probe; livenessProbe: Probe; readinessProbe: Probe }[];
};

/** Runs helm with values. @returns its output */
async function helm(command: string[], values: Record<string, string>): Promise<string> {
  const flags = Object.entries(values).flatMap(([name, value]) => ['--set', `${name}=${value}`]);
  return (await run(await helmProgram(), [...command, chart, ...flags])).stdout;
}

async function render(values: Record<string, string>): Promise<Manifest[]> {
  const parse = await yamlParser();
  return parse(await helm(['template', 'auth'], values)).filter((manifest) => manifest !== null) as Manifest[];
}

const find = <Spec>(manifests: Manifest[], kind: string) => manifests.find((manifest) => manifest.kind === kind)?.spec as Spec;
const podOf = (manifests: Manifest[]) => find<{ template: { spec: Pod } }>(manifests, 'Deployment').template.spec;

describe.skipIf(!hasHelm)('the Helm chart', () => {
  let stage: Stage | undefined;
  afterAll(() => stage?.close());

  test('passes the checks of Helm, and has the version of the service', async () => {
    await helm(['lint', '--strict'], required);
    const { version } = JSON.parse(await readFile(join(deployFolder, '../../package.json'), 'utf8'));
    expect(await readFile(join(chart, 'Chart.yaml'), 'utf8')).toContain(`\nversion: ${version}\nappVersion: ${version}\n`);
    expect(podOf(await render(required)).containers[0].image).toBe(`emailauth:${version}`);
  });

  test.each([
    ['the required values only', required, ['Deployment', 'PodDisruptionBudget', 'Service']],
    [
      'every part',
      everything,
      ['Deployment', 'HorizontalPodAutoscaler', 'Ingress', 'NetworkPolicy', 'PodDisruptionBudget', 'Service', 'ServiceMonitor'],
    ],
  ])('with %s, renders objects that follow the schemas of Kubernetes', async (_what, values, kinds) => {
    const manifests = await render(values);
    expect(manifests.map(({ kind }) => kind).sort()).toEqual(kinds);
    expect(await manifestErrors(manifests)).toEqual([]);
  });

  test('the schemas find a wrong type and a field that does not exist', async () => {
    const [manifest] = await render(required);
    const spec = manifest.spec as object;
    expect((await manifestErrors([{ ...manifest, spec: { ...spec, maxUnavailable: [1] } }])).join()).toContain('maxUnavailable');
    expect((await manifestErrors([{ ...manifest, spec: { ...spec, maxUnavailabel: 1 } }])).join()).toContain('maxUnavailabel');
  });

  test('names a value that is missing, wrong or unknown', async () => {
    for (const [name, text] of Object.entries({
      'settings.PUBLIC_URL': 'PUBLIC_URL is missing',
      secret: 'secret is missing',
      'icons.claim': 'S3_BUCKET',
    })) {
      await expect(render({ ...required, [name]: '' })).rejects.toThrow(text);
    }
    await expect(render({ ...required, replica: '3' })).rejects.toThrow(/replica/);
    expect((await render({ ...required, 'icons.claim': '', 'settings.S3_BUCKET': 'icons' })).length).toBe(3);
  });

  test('replaces pods without a gap, and allows one pod less during maintenance', async () => {
    const manifests = await render(everything);
    expect(find(manifests, 'Deployment')).toMatchObject({ strategy: { rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } } });
    expect(find(manifests, 'Deployment')).not.toHaveProperty('replicas');
    expect(find(manifests, 'PodDisruptionBudget')).toMatchObject({ maxUnavailable: 1 });
    const pod = podOf(manifests);
    const drainSeconds = Number(pod.containers[0].env.find(({ name }) => name === 'DRAIN_SECONDS')?.value);
    const { periodSeconds, failureThreshold = 3 } = pod.containers[0].readinessProbe;
    expect(periodSeconds * failureThreshold).toBeLessThan(drainSeconds);
    // DRAIN_SECONDS and 10 s to finish.
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(drainSeconds + 10);
  });

  test('has no secret in its objects, which name the Secret instead', async () => {
    const manifests = await render(everything);
    const [{ env }] = podOf(manifests).containers;
    expect(env.filter(({ name }) => /PASSWORD|SECRET|KEY|TOKEN|DATABASE|SMTP/.test(name))).toEqual([]);
    expect(podOf(manifests).containers[0]).toMatchObject({ envFrom: [{ secretRef: { name: 'emailauth-settings' } }] });
    const endpoint = { authorization: { credentials: { name: 'emailauth-settings', key: 'METRICS_TOKEN' } } };
    expect(find(manifests, 'ServiceMonitor')).toMatchObject({ endpoints: [endpoint] });
  });

  test('its settings start the service, whose probes answer', async () => {
    stage = await openStage({ empty: true });
    const [container] = podOf(await render(everything)).containers;
    for (const { name } of container.env) expect(Object.keys(settings)).toContain(name);
    const started = await stage.start(Object.fromEntries(container.env.map(({ name, value }) => [name, value])));
    const client = started.client();
    for (const { httpGet } of [container.startupProbe, container.livenessProbe, container.readinessProbe]) {
      // The kubelet sends the address of the pod as the host.
      expect((await client.get(httpGet.path, { Host: '10.1.2.3:4400' })).status).toBe(200);
    }
    const website = await registerWebsite(client);
    expect(await visitorToken(stage, client, website, freshAddress())).not.toBe('');
  });
});
