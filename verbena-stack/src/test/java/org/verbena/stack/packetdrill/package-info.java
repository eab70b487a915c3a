// SPDX-License-Identifier: Apache-2.0
/**
 * An interpreter of the packetdrill language that runs scripts in process against a TCP of {@link Target}, in virtual
 * time and without privileges; both google's dialect and that of FreeBSD's suite.
 */
package org.verbena.stack.packetdrill;
