// SPDX-License-Identifier: Apache-2.0
/**
 * Remote memory under the names of the SMC-ERM proposal: {@link org.verbena.erm.smc.SmcErm}. It is a thin wrapper of
 * {@link org.verbena.erm.RemoteMemory}, with the same guarantees; docs/erm.md compares both.
 */
@org.jspecify.annotations.NullMarked
package org.verbena.erm.smc;
