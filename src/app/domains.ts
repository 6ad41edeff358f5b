import { type AccessServices, createAccess } from '../access/access';
import { combineDomains, type Domains } from '../domain/domain';
import { createFeed, type FeedServices } from '../feed/feed';
import { createPetstore } from '../petstore/petstore';

/** The services behind the domains. */
export interface Services extends AccessServices, FeedServices {}

/** Combines the domains of the gateway. @param services may be omitted if no resolver of `access` and `feed` will run. */
export function gatewayDomains(services = {} as Services): Domains {
  const domains = [createPetstore(), createAccess(services)];
  return combineDomains([...domains, createFeed(domains, services)]);
}
