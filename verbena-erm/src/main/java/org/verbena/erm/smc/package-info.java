// SPDX-License-Identifier: Apache-2.0
/**
 * Remote memory by the names of the SMC-ERM proposal, for people who come from it: {@link org.verbena.erm.smc.SmcErm}. It is a
 * thin dress over {@link org.verbena.erm.RemoteMemory}, with its promises; docs/erm.md has both side by side.
 */
@org.jspecify.annotations.NullMarked
package org.verbena.erm.smc;
