import { createService, type Service, type ServiceOptions } from '../../index.ts';
import type { Invocation } from '../command.ts';

/** Runs with a service over the chosen state directory, and closes it however that ends. */
export async function withService<Result>(
  { stateDirectory }: Pick<Invocation, 'stateDirectory'>,
  run: (service: Service) => Promise<Result>,
  options: ServiceOptions = {},
): Promise<Result> {
  await using service = await createService({
    ...options,
    ...(stateDirectory === undefined ? {} : { stateDirectory }),
  });
  return await run(service);
}
