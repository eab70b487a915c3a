// SPDX-License-Identifier: Apache-2.0
/** A server of ZooKeeper and a load for it. */
@org.jspecify.annotations.NullMarked
package org.verbena.apps.zookeeper;
