// Numbers, not tests: each bench prints what it measured beside its limit, measured in the same run.

import CronBench
import Glibc
import Host

let benches: [(name: String, about: String, run: ([String]) async throws -> Void)] = [
    ("idle", "memory and wake-ups of belfryd and belfry-warden with nothing to do", IdleBench.run),
    ("status", "`belfry status` as a whole process, beside an empty program", StatusBench.run),
    ("runs", "runs of /bin/true a second with full history, beside posix_spawn", RunsBench.run),
    ("load", "100,000 and a million jobs: start, memory, lateness, beside other schedulers", LoadBench.run),
    ("herd", "10,000 slots due together, beside one SQLite commit of 10,000 rows", HerdBench.run),
    ("path", "event to webhook, beside fdatasync of the same disk", PathBench.run),
    ("messages", "messages a second with 10 and 100,000 threads awake, beside the ledger", MessagesBench.run),
    (
        "cron", "next, previous, parse and bytes, beside peers; --gate checks the limits",
        { if !$0.contains("--gate") { CronTables.run() } else if !CronGate.isKept() { exit(1) } }
    ),
    (
        "fuzz", "random and mutated inputs for the parsers of Timeline and Cron",
        { CronFuzz.run(arguments: $0) }
    ),
    (
        "chaos",
        "kills daemon and warden under load, then counts; [ROUNDS] [--seed SEED] [--jobs JOBS] [--no-questions]",
        ChaosBench.run
    ),
    (
        "chaos-channels",
        "kills the daemon while receivers of six forms die, hang and refuse; [DELIVERIES] [--seed SEED]",
        ChannelChaos.run
    ),
    ("ledger", "commits", LedgerBench.run),
    (
        "eta", "error of the finish time, beside pace, past times, tqdm and Rich; [SEED] [--traces FOLDER]",
        { EtaBench.run(arguments: $0) }
    ),
    ("search", "a search among a million messages; [COUNT]", SearchBench.run),
    (
        "notify", "dispatch of a fact, grouping, and a thousand messages that become one notice",
        NotifyBench.run
    ),
    ("render", "a frame of ten rows", { RenderBench.run(arguments: $0) }),
    ("ingest", "reports of jobs: one, and datagrams a second", { try IngestBench.run(arguments: $0) }),
    ("watchers", "1,000 live runs watched by 50", WatchersBench.run),
    ("sse", "bytes of a bot's reply a second", { StreamBench.run(arguments: $0) }),
    (
        "stream-fuzz", "mutated streams for the parsers of bots' replies; [COUNT [SEED]]",
        { try StreamFuzz.run(arguments: $0) }
    ),
    (
        "gateway-fuzz", "mutated frames for the parser of OpenClaw gateways; [COUNT [SEED]]",
        { try GatewayFuzz.run(arguments: $0) }
    ),
    (
        "gateway",
        "a thousand idle gateways: memory, processor, status, a delta to the terminal; [COUNT [SECONDS]]",
        GatewayBench.run
    ),
    (
        "progress-fuzz", "bytes that look like progress, through each parser of it; [BYTES [SEED]]",
        { try ProgressFuzz.run(arguments: $0) }
    ),
    ("gateway-stand", "the gateway of bench chaos; FOLDER PORT", GatewayStand.run),
    ("bots", "a hundred bots talking: terminal, desktop, echo and turns; [BOTS]", BotsBench.run),
    ("provider", "what a real provider of bots can do; config/check-provider", ProviderCheck.run),
    (
        "gateway-check", "what a real OpenClaw gateway can do; config/check-gateway",
        { try await GatewayCheck.run(arguments: $0) }
    ),
    ("dbus", "Notify calls a second", DBusBench.run),
    ("webhook", "webhooks a second, beside Alertmanager and Apprise; [COUNT]", WebhookBench.run),
    ("fanout", "webhooks a second from waiting rows to receipts, 8 channels; [COUNT]", FanoutBench.run),
]

WorkerPool.install()
let words = Array(Machine.arguments.dropFirst())
guard let name = words.first, name != "--help" else {
    print("usage: bench NAME [ARGUMENTS], or bench all\n")
    for bench in benches { print("  " + bench.name.padded(to: 10) + bench.about) }
    exit(words.isEmpty ? 2 : 0)
}
/// Those that take minutes or arguments, and are asked for by name.
let long: Set = [
    "fuzz", "progress-fuzz", "stream-fuzz", "gateway-fuzz", "chaos", "chaos-channels", "load", "bots",
    "provider", "gateway",
    "gateway-check",
    "gateway-stand", "search",
]
let chosen = benches.filter { $0.name == name || name == "all" && !long.contains($0.name) }
guard !chosen.isEmpty else {
    print("bench: there is no bench \"\(name)\"; bench --help lists them")
    exit(2)
}
var failures = 0
print("# \(Machine.summary)")
for bench in chosen {
    print("\n## \(bench.name): \(bench.about)")
    do {
        try await bench.run(Array(words.dropFirst()))
    } catch {
        // A peer that is not installed ends its own bench only.
        print("bench: \(bench.name): \(error)")
        failures += 1
    }
}
exit(failures == 0 ? 0 : 1)
