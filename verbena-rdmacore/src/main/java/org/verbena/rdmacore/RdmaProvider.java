// SPDX-License-Identifier: Apache-2.0
package org.verbena.rdmacore;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

import org.verbena.linux.Errno;
import org.verbena.verbs.Device;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.spi.ApiRange;
import org.verbena.verbs.spi.VerbsProvider;

/** The provider of libibverbs' devices; found by {@link java.util.ServiceLoader}. */
public final class RdmaProvider implements VerbsProvider {
    static final String NAME = "rdmacore";

    /** The directory with a {@code uverbs0} for each device of the kernel. */
    private final Path kernel;

    /** For the service loader. */
    public RdmaProvider() {
        this(Path.of("/sys/class/infiniband_verbs"));
    }

    RdmaProvider(Path kernel) {
        this.kernel = kernel;
    }

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public ApiRange apiRange() {
        return ApiRange.from(1);
    }

    /**
     * The devices that libibverbs finds now: {@code ibv_get_device_list}.
     *
     * @throws VerbsException if there is no library or no device; the message says which, and what to do
     */
    @Override
    public List<Device> devices() throws VerbsException {
        Ibverbs library = Ibverbs.load();
        List<Device> found = new ArrayList<>();
        try (DeviceList list = DeviceList.get(library)) {
            for (int i = 0; i < list.size(); i++) {
                found.add(list.device(i));
            }
        } catch (VerbsException e) {
            throw e.errno() == Errno.EOPNOTSUPP ? none(library) : e; // ENOSYS: the kernel has no RDMA
        }
        if (found.isEmpty()) {
            throw none(library);
        }
        return found;
    }

    private VerbsException none(Ibverbs library) {
        List<String> found = kernelDevices();
        return new VerbsException("list devices of " + library, Errno.ENODEV, found.isEmpty()
                ? "the kernel has no RDMA device (" + kernel + "): load its driver, or rdma_rxe for one in software"
                : "libibverbs has no driver for " + String.join(", ", found) + ": install ibverbs-providers");
    }

    private List<String> kernelDevices() {
        List<String> names = new ArrayList<>();
        if (Files.isDirectory(kernel)) {
            try (DirectoryStream<Path> all = Files.newDirectoryStream(kernel, "uverbs*")) {
                all.forEach(p -> names.add(p.getFileName().toString()));
                Collections.sort(names);
            } catch (IOException e) {
                names.add(kernel.toString()); // there is at least one
            }
        }
        return names;
    }
}
