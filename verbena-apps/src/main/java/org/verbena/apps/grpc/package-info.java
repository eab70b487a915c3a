// SPDX-License-Identifier: Apache-2.0
/** A server and a client of gRPC, on Netty. */
@org.jspecify.annotations.NullMarked
package org.verbena.apps.grpc;
