import { type AccessServices, createAccess } from '../access/access';
import { createPetstore } from '../petstore/petstore';
import { combineDomains, type Domains } from '../rest/domain';

/** The domains of the gateway. @param access can be omitted if no resolver of API keys is called. */
export function gatewayDomains(access = {} as AccessServices): Domains {
  return combineDomains([createPetstore(), createAccess(access)]);
}
