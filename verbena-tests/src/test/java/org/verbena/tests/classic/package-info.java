// SPDX-License-Identifier: Apache-2.0
/** Classic sockets: {@code Socket}, {@code ServerSocket} and what stands on them, in processes with the agent and without. */
package org.verbena.tests.classic;
