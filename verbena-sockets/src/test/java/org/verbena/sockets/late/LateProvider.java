// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.late;

import java.util.List;

import org.verbena.verbs.Device;
import org.verbena.verbs.spi.ApiRange;
import org.verbena.verbs.spi.VerbsProvider;

/**
 * A provider that is as late as an adapter behind a bus may be: {@code late0} is {@code shm0} whose work requests are carried
 * out some time after they were posted, in bursts, and whose completions come some time after that, in batches.
 *
 * <p>The service loader finds it where the resources of {@code verbena-late-tests} are on the class path.
 */
public final class LateProvider implements VerbsProvider {
    /** For the service loader. */
    public LateProvider() {}

    @Override
    public String name() {
        return "late";
    }

    @Override
    public ApiRange apiRange() {
        return ApiRange.from(1);
    }

    @Override
    public List<Device> devices() {
        return List.of(new LateDevice());
    }
}
