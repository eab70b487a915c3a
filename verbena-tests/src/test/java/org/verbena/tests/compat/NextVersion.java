// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.compat;

import java.nio.file.Path;

/**
 * The version after this one, made from the sources of this one: every change that the rules of growth allow, once
 * each. A new object with its verb and attributes, a new operation on the send queue, a new field with its bit in every
 * attribute object that has such bits, new fields in results, a new value, a new opcode, new access rights, a new
 * feature, and their implementation in a provider.
 */
final class NextVersion {
    /** The bit of the new fields, far from those that this version uses. */
    private static final String BIT = "1 << 30";

    private NextVersion() {}

    /** The API, level 2. */
    static SourcePatch verbs(Path sources, Path added, Path copy) {
        SourcePatch p = SourcePatch.of(sources, added, copy, "org.verbena.verbs");
        p.replace("Verbs", "API_LEVEL = 1;", "API_LEVEL = 2;");
        p.add("Feature", "public static final String BEACON = \"beacon\";");
        p.add("Context", """
                    public final Beacon createBeacon(BeaconAttributes attributes) throws VerbsException {
                        checkOpen("create beacon on " + describe());
                        return implCreateBeacon(attributes);
                    }
                    protected Beacon implCreateBeacon(BeaconAttributes attributes) throws VerbsException {
                        throw new VerbsException("create beacon on " + describe(), Errno.EOPNOTSUPP, "it has none");
                    }
                """);
        p.add("SendQueue", "public SendQueue beacon(long wrId, int flags) { return unsupported(); }");
        p.add("WcOpcode", "public static final int RECV_BEACON = 200;");
        p.replace("WcOpcode", "default -> Integer", "case RECV_BEACON -> \"RECV_BEACON\"; default -> Integer");
        p.add("AccessFlags",
                "public static final int BEACON = 1 << 19; public static final int BEACON_HINT = 1 << 29;");
        p.add("CompletionQueueAttributes", "public static final int WITH_BEACON = " + BIT
                + "; public static final int BEACON_FLAG = " + BIT + ";");
        p.add("Values", "public static final int BEACONS = " + BIT + ";");
        field(p, "QueuePairInitAttributes", "compMask");
        field(p, "QueuePairAttributes", "mask");
        field(p, "CompletionQueueAttributes", "compMask");
        field(p, "AddressVector", "compMask");
        field(p, "ConnectionParameters", "compMask");
        field(p, "MemoryRegionAttributes", "compMask");
        field(p, "ParentDomainAttributes", "compMask");
        field(p, "SharedReceiveQueueAttributes", "compMask");
        field(p, "XrcDomainAttributes", "compMask");
        field(p, "QueuePairOpenAttributes", "compMask");
        field(p, "WorkQueueInitAttributes", "compMask");
        p.replace("QueuePairStateMachine", "RTS_OPTIONAL = ", "RTS_OPTIONAL = PACE | ");
        p.begin("Values", "private Values(Builder b)", "beacons = b.beacons;");
        p.add("Values", "private final java.util.OptionalInt beacons;"
                + "public java.util.OptionalInt beacons() { return beacons; }");
        p.add("Values", "Builder", output());
        for (String type : new String[] {"DeviceAttributes", "PortAttributes"}) {
            p.add(type, "public java.util.OptionalInt beacons() { return b.beacons; }");
            p.add(type, "Builder", output());
            p.begin(type, "private Builder(Builder o)", "beacons = o.beacons;");
        }
        return p;
    }

    /** A further field of an attribute object, with its bit. */
    private static void field(SourcePatch p, String type, String mask) {
        p.begin(type, "private " + type + "(Builder b)", "pace = b.pace;");
        p.add(type, "public static final int PACE = " + BIT + "; private final int pace;"
                + "public int pace() { return pace; }");
        p.add(type, "Builder", "private int pace; public Builder pace(int value) { pace = value; " + mask
                + " |= PACE; return this; }");
    }

    /** A further field in a result of a provider. */
    private static String output() {
        return "private java.util.OptionalInt beacons = java.util.OptionalInt.empty();"
                + "public Builder beacons(int v) { beacons = java.util.OptionalInt.of(v); return this; }";
    }

    /** The provider, which has all of it, and runs on level 1 as well. */
    static SourcePatch shm(Path sources, Path added, Path copy) {
        SourcePatch p = SourcePatch.of(sources, added, copy, "org.verbena.shm");
        p.add("ShmContext", """
                    @Override
                    protected org.verbena.verbs.Beacon implCreateBeacon(org.verbena.verbs.BeaconAttributes a)
                            throws VerbsException {
                        return ShmBeacon.create(this, a);
                    }
                    @Override
                    public Values queryValues(int mask) throws VerbsException {
                        return (mask & Values.BEACONS) == 0
                                ? basicValues(mask)
                                : Level2.values(basicValues(mask & ~Values.BEACONS));
                    }
                """);
        p.rename("ShmContext", "Values queryValues(int mask) throws VerbsException {\n        checkOpen",
                "Values basicValues(int mask) throws VerbsException {\n        checkOpen");
        p.replace("ShmContext", "return switch \\(feature\\) \\{",
                "return switch (feature) { case Feature.BEACON -> true;");
        p.supports("ShmContext", "supportedQueuePairInitMask", BIT);
        p.supports("ShmContext", "supportedCompletionQueueMask", BIT);
        p.supports("ShmContext", "supportedCompletionFields", BIT);
        p.supports("ShmContext", "supportedCompletionQueueFlags", BIT);
        p.supports("ShmContext", "supportedAddressVectorMask", BIT);
        p.supports("ShmContext", "supportedParentDomainMask", BIT);
        p.supports("ShmContext", "supportedXrcDomainMask", BIT);
        p.supports("ShmXrcDomain", "supportedQueuePairOpenMask", BIT);
        p.supports("ShmProtectionDomain", "supportedMemoryRegionMask", BIT);
        p.supports("ShmProtectionDomain", "supportedSharedReceiveQueueMask", BIT);
        p.supports("ShmQueuePair", "supportedAttributes", BIT);
        p.supports("ShmConnectionManager", "supportedParametersMask", BIT);
        p.replace("ShmDevice", "DeviceAttributes\\.builder\\(\\)", "Level2.device()");
        p.replace("ShmDevice", "PortAttributes\\.builder\\(\\)", "Level2.port()");
        p.add("StagedSendQueue", "@Override public SendQueue beacon(long wrId, int flags) {"
                + " return sendImmediate(wrId, flags, Level2.IMMEDIATE); }");
        p.add("ShmCompletionQueue", "@Override public int opcode() { int o = super.opcode();"
                + " return o == 128 && immediate() == Level2.IMMEDIATE ? 200 : o; }");
        return p;
    }
}
