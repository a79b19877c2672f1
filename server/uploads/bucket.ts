import { createHash } from 'node:crypto';
import { AwsClient } from 'aws4fetch';
import { Fault } from '../../contract/errors.ts';
import type { Config } from '../config.ts';
import type { Storage } from './storage.ts';

/** One try; there are two. */
const TRY_MS = 2_000;

/**
 * Objects `uploads/ID` of a bucket that speaks S3 (path-style addresses, AWS Signature Version 4).
 * @throws Fault unavailable from each call when the bucket does not do it in time
 */
export function bucketStorage({ endpoint, name, region, accessKeyId, secretAccessKey }: NonNullable<Config['bucket']>): Storage {
  const aws = new AwsClient({ accessKeyId, secretAccessKey, region, service: 's3', retries: 0 });

  /** @returns the body; null when there is no such object */
  async function ask(method: 'PUT' | 'GET' | 'DELETE', id: string, body?: Buffer): Promise<Buffer | null> {
    const hash = createHash('sha256')
      .update(body ?? '')
      .digest('hex');
    const headers = { 'X-Amz-Content-Sha256': hash, ...(body && { 'Content-Type': 'application/octet-stream' }) };
    const tryOnce = async () => {
      const request = await aws.sign(`${endpoint}/${name}/uploads/${id}`, { method, headers, body: body && new Uint8Array(body) });
      // The signal goes to fetch alone: Node loses the one of a Request once that is garbage, and would wait for good.
      const response = await fetch(request, { redirect: 'error', signal: AbortSignal.timeout(TRY_MS) });
      const answer = Buffer.from(await response.arrayBuffer());
      if (response.ok) return answer;
      if (response.status === 404 && method !== 'PUT') return null;
      throw new Error(`The bucket answered ${response.status} to ${method}: ${answer.subarray(0, 300)}`);
    };
    try {
      return await tryOnce().catch(tryOnce);
    } catch (cause) {
      throw new Fault('unavailable', { message: 'The images cannot be reached for a moment.', cause, retryAfter: 5 });
    }
  }

  return {
    put: async (id, bytes) => void (await ask('PUT', id, bytes)),
    get: (id) => ask('GET', id),
    remove: async (id) => void (await ask('DELETE', id)),
  };
}
