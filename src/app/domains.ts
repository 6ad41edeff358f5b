import { type AccessServices, createAccess } from '../access/access';
import { createPetstore } from '../petstore/petstore';
import { combineDomains, type Domains } from '../rest/domain';

/** Combines the domains of the gateway. @param access may be omitted if no resolver of the domain `access` will run. */
export function gatewayDomains(access = {} as AccessServices): Domains {
  return combineDomains([createPetstore(), createAccess(access)]);
}
