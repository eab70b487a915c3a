// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.apps.bench;

/** What is the same for all runs. */
record Setting(Run.Length length, Load load, Placement placement) {}
