// SPDX-License-Identifier: Apache-2.0
/**
 * An assembler of eBPF (RFC 9669): instructions, labels, and the programs of them that {@link org.verbena.linux.Bpf}
 * loads. It knows neither packets nor maps.
 */
package org.verbena.xdp.bpf;
