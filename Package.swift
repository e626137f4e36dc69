// swift-tools-version: 6.2
import PackageDescription

// One entry a target, in the order of the data's way. Settings cannot drift: every Swift target is
// made by one of the helpers at the end of this file.

let pureTargets: [Target] = [
    pure("Timeline"),
    pure("Cron", ["Timeline"]),
    pure("Tracking", ["Timeline"]),
    pure("Grouping", ["Timeline", "Tracking"]),
    pure("Delivery", ["Timeline", "Tracking", "Grouping"]),
    pure("Performing", ["Timeline", "Tracking"]),
    pure("Prompting", ["Timeline", "Tracking", "Delivery"]),
    pure("OpenClaw", ["Timeline", "Tracking"]),
]

let systemLibraries: [Target] = [
    .systemLibrary(
        name: "CDBus", path: "Sources/CDBus", pkgConfig: "dbus-1", providers: [.apt(["libdbus-1-dev"])]),
    .systemLibrary(
        name: "CCurl", path: "Sources/CCurl", pkgConfig: "libcurl",
        providers: [.apt(["libcurl4-openssl-dev"])]),
    .systemLibrary(name: "CLinux", path: "Sources/CLinux"),
]

let stations: [Target] = [
    effect("Ledger", ["Timeline", "Cron", "Tracking", "Grouping", "Delivery"]),
    effect(
        "LedgerSQLite",
        ["Timeline", "Tracking", "Grouping", "Delivery", "Ledger", "Host", .grdb, .sqlite]),
    effect("WardenProtocol", ["Timeline", "Performing", "Host"]),
    effect("Warden", ["Timeline", "Tracking", "Performing", "Host", "WardenProtocol", "CLinux"]),
    effect(
        "Engine",
        [
            "Timeline", "Cron", "Tracking", "Grouping", "Delivery", "Performing", "Prompting", "OpenClaw",
            "Ledger", "API", .logging, .heap, .ordered,
        ]),
    effect("DBus", ["CDBus"]),
    effect("DesktopChannel", ["Timeline", "Tracking", "Grouping", "Delivery", "DBus", "Host", .logging]),
    effect("Curl", ["CCurl"]),
    effect("WebhookChannel", ["Timeline", "Grouping", "Delivery", "Curl", .crypto, .logging]),
    effect("ProgramChannel", ["Timeline", "Tracking", "Delivery", "Performing", "Host"]),
    effect(
        "GatewayClient",
        [
            "Timeline", "Tracking", "Delivery", "OpenClaw", "Host", .crypto, .nio, .nioPosix, .nioHTTP,
            .nioWebSocket, .nioSSL,
        ]),
    effect(
        "Bots",
        [
            "Timeline", "Tracking", "Delivery", "Performing", "Prompting", "OpenClaw", "GatewayClient",
            "Curl",
            "Host",
        ]),
    effect("Host", ["Timeline", "CLinux"]),
    effect(
        "Settings", ["Timeline", "Cron", "Tracking", "Grouping", "Delivery", "Prompting", "Ledger", .yams]),
    effect("TerminalView", ["Timeline", "Tracking"]),
    effect("API", ["Timeline", "Tracking", "Grouping", "Ledger"]),
    effect("CronBench", ["Timeline", "Cron", "Host", "CLinux"]),
    effect(
        "APIServer",
        [
            "Timeline", "Cron", "Tracking", "Grouping", "Delivery", "Performing", "Prompting", "OpenClaw",
            "Ledger", "WardenProtocol", "Engine", "Host", "Settings", "API", "WebhookChannel", .hummingbird,
            .nio,
            .nioPosix, .nioSSL,
            .httpTypes, .crypto, .lifecycle, .logging,
        ]),
    effect("APIClient", ["Timeline", "API"]),
]

let programs: [Target] = [
    program(
        "belfryd",
        [
            "Timeline", "Cron", "Tracking", "Grouping", "Delivery", "Performing", "Prompting", "Ledger",
            "LedgerSQLite", "Engine",
            "WardenProtocol", "Bots", "GatewayClient", "OpenClaw", "DBus", "DesktopChannel", "Curl",
            "WebhookChannel", "ProgramChannel",
            "Host", "Settings", "API", "APIServer", "APIClient", .argumentParser, .lifecycle, .logging,
        ]),
    program("belfry-warden", ["Host", "Warden"]),
    program(
        "belfry",
        [
            "Timeline", "Cron", "Tracking", "Grouping", "Delivery", "Performing", "OpenClaw", "Ledger",
            "TerminalView", "API", "APIClient", "Host", "WardenProtocol", .argumentParser,
        ]),
    program(
        "bench",
        [
            "Timeline", "Tracking", "Grouping", "Delivery", "Prompting", "OpenClaw", "Ledger", "LedgerSQLite",
            "Engine", "WardenProtocol", "TerminalView", "Bots", "GatewayClient", "DBus", "Curl",
            "WebhookChannel", "Host", "API", "APIClient", "CronBench", "CLinux", "TestSupport", .sqlite,
            .logging,
        ]),
    program("cron-gate", ["CronBench"]),
]

let suites: [Target] = [
    .target(name: "CLineOutput", path: "Tests/CLineOutput"),
    .target(
        name: "TestSupport",
        dependencies: [
            "CLineOutput", "Timeline", "Tracking", "Delivery", "Host", .crypto, .nio, .nioPosix, .nioHTTP,
            .nioWebSocket,
        ], path: "Tests/TestSupport", swiftSettings: strict()),
    suite("TimelineTests", ["Timeline", "TestSupport"]),
    suite("CronTests", ["Timeline", "Cron", "TestSupport"]),
    suite("TrackingTests", ["Timeline", "Tracking", "TestSupport"]),
    suite("PromptingTests", ["Timeline", "Tracking", "Prompting", "TestSupport"]),
    suite("OpenClawTests", ["Timeline", "Tracking", "OpenClaw", "TestSupport"]),
    suite(
        "GatewayClientTests",
        [
            "Timeline", "Tracking", "Delivery", "OpenClaw", "GatewayClient", "Host", "TestSupport", .nio,
            .nioPosix,
        ]),
    suite("GroupingTests", ["Timeline", "Tracking", "Grouping", "TestSupport"]),
    suite("DeliveryTests", ["Timeline", "Tracking", "Grouping", "Delivery", "TestSupport"]),
    suite(
        "LedgerTests",
        [
            "Timeline", "Cron", "Tracking", "Grouping", "Delivery", "Ledger", "LedgerSQLite", "TestSupport",
            .grdb,
        ]),
    suite(
        "WardenTests",
        ["Timeline", "Performing", "Host", "WardenProtocol", "Warden", "TestSupport", "belfry-warden"]),
    suite(
        "EngineTests",
        [
            "Timeline", "Cron", "Tracking", "Grouping", "Delivery", "Performing", "Prompting", "OpenClaw",
            "Ledger", "LedgerSQLite", "WardenProtocol", "API", "Engine", "Host", "DesktopChannel", "Curl",
            "WebhookChannel", "TestSupport", "belfry-warden", .logging,
        ]),
    suite("DBusTests", ["DBus", "TestSupport"]),
    suite(
        "DesktopChannelTests",
        ["Timeline", "Grouping", "Delivery", "DBus", "DesktopChannel", "Host", "TestSupport", .logging]),
    suite("CurlTests", ["Curl", "TestSupport"]),
    suite(
        "WebhookChannelTests",
        ["Timeline", "Tracking", "Grouping", "Delivery", "Curl", "WebhookChannel", "TestSupport", .logging]),
    suite(
        "ProgramChannelTests",
        [
            "Timeline", "Delivery", "Performing", "Host", "WardenProtocol", "ProgramChannel", "TestSupport",
            "belfry-warden",
        ]),
    suite(
        "BotsTests",
        [
            "Timeline", "Tracking", "Delivery", "Performing", "Prompting", "GatewayClient", "Curl", "Host",
            "WardenProtocol", "OpenClaw", "Bots", "TestSupport", "belfry-warden",
        ]),
    suite("HostTests", ["Timeline", "Host", "TestSupport"]),
    suite(
        "SettingsTests",
        [
            "Timeline", "Cron", "Tracking", "Grouping", "Delivery", "Prompting", "Ledger", "Settings", "Host",
            "TestSupport",
        ]),
    suite("TerminalViewTests", ["Timeline", "Tracking", "TerminalView", "TestSupport"]),
    suite(
        "APITests",
        [
            "Timeline", "Tracking", "Grouping", "Delivery", "Prompting", "Ledger", "LedgerSQLite",
            "WardenProtocol", "Engine", "Host", "Settings", "TerminalView", "API", "APIClient", "APIServer",
            "TestSupport", "belfry", "belfry-warden", .logging, .lifecycle, .argumentParser,
        ]),
    suite(
        "EndToEndTests",
        [
            "Timeline", "Tracking", "Host", "DBus", "TestSupport", "belfryd", "belfry", "belfry-warden",
            "bench",
        ]),
]

let package = Package(
    name: "belfry",
    products: [
        .library(name: "Timeline", targets: ["Timeline"]),
        .library(name: "Cron", targets: ["Cron"]),
        .library(name: "Tracking", targets: ["Tracking"]),
        .library(name: "Grouping", targets: ["Grouping"]),
        .executable(name: "belfryd", targets: ["belfryd"]),
        .executable(name: "belfry-warden", targets: ["belfry-warden"]),
        .executable(name: "belfry", targets: ["belfry"]),
    ],
    dependencies: [
        .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", exact: "2.28.1", traits: []),
        .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl.git", exact: "2.37.6"),
        .package(url: "https://github.com/apple/swift-http-types", exact: "1.8.0"),
        .package(url: "https://github.com/apple/swift-crypto", exact: "4.5.2"),
        .package(url: "https://github.com/jpsim/Yams", exact: "6.2.2"),
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", exact: "2.13.0"),
        .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
        .package(url: "https://github.com/apple/swift-collections", exact: "1.6.0"),
    ],
    targets: pureTargets + systemLibraries + stations + programs + suites,
    swiftLanguageModes: [.v6]
)

/// What every Swift target is compiled with: warnings are errors, memory-unsafe code says so.
func strict() -> [SwiftSetting] {
    [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        .strictMemorySafety(),
        .treatAllWarnings(as: .error),
    ]
}

/// A target that decides and never acts: the standard library and other pure targets only.
func pure(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: strict())
}

/// A target that touches the world.
func effect(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: strict())
}

func program(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(name: name, dependencies: dependencies, swiftSettings: strict())
}

func suite(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: dependencies, swiftSettings: strict())
}

extension Target.Dependency {
    static var grdb: Self { .product(name: "GRDB", package: "GRDB.swift") }
    static var sqlite: Self { .product(name: "GRDBSQLite", package: "GRDB.swift") }
    static var hummingbird: Self { .product(name: "HummingbirdCore", package: "hummingbird") }
    static var nio: Self { .product(name: "NIOCore", package: "swift-nio") }
    static var nioPosix: Self { .product(name: "NIOPosix", package: "swift-nio") }
    static var nioHTTP: Self { .product(name: "NIOHTTP1", package: "swift-nio") }
    static var nioWebSocket: Self { .product(name: "NIOWebSocket", package: "swift-nio") }
    static var nioSSL: Self { .product(name: "NIOSSL", package: "swift-nio-ssl") }
    static var httpTypes: Self { .product(name: "HTTPTypes", package: "swift-http-types") }
    static var crypto: Self { .product(name: "Crypto", package: "swift-crypto") }
    static var yams: Self { .product(name: "Yams", package: "Yams") }
    static var argumentParser: Self { .product(name: "ArgumentParser", package: "swift-argument-parser") }
    static var lifecycle: Self { .product(name: "ServiceLifecycle", package: "swift-service-lifecycle") }
    static var logging: Self { .product(name: "Logging", package: "swift-log") }
    static var heap: Self { .product(name: "HeapModule", package: "swift-collections") }
    static var ordered: Self { .product(name: "OrderedCollections", package: "swift-collections") }
}
