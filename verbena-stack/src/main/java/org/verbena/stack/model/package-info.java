// SPDX-License-Identifier: Apache-2.0
/** Values that connections are told and that they tell. */
package org.verbena.stack.model;
