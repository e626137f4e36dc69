import Glibc
import Host
import TestSupport
import Testing
import Timeline

@Suite struct `zone files` {
    @Test(arguments: [
        "../../etc/passwd", "/etc/passwd", "Europe/../UTC", "", "Europe//Berlin", "a.b", "Europe/",
    ])
    func `are not read by a name that could leave their folder`(name: String) {
        #expect(throws: HostError.noSuchZone(name: name)) { try ZoneFiles().bytes(of: name) }
    }

    @Test func `are read by name`() throws {
        let folder = try makeDatabase()
        let zones = ZoneFiles(folder: folder.path)
        #expect(try zones.bytes(of: "Europe/Berlin") == Array("TZif2 berlin".utf8))
        #expect(throws: HostError.noSuchZone(name: "Europe/Nowhere")) {
            try zones.bytes(of: "Europe/Nowhere")
        }
        #expect(throws: HostError.noSuchZone(name: "Europe")) { try zones.bytes(of: "Europe") }
    }

    @Test func `are refused when they are not compiled zones`() throws {
        let folder = try makeDatabase()
        #expect(
            throws: HostError.malformed(path: folder.file("leapseconds"), problem: "not a compiled time zone")
        ) { try ZoneFiles(folder: folder.path).bytes(of: "leapseconds") }
    }

    @Test func `become rules`() throws {
        let folder = try TemporaryFolder()
        let zones = ZoneFiles(folder: folder.path)
        #expect(throws: HostError.noSuchZone(name: "Europe/Berlin")) { try zones.rules(of: "Europe/Berlin") }
        #expect(try zones.rules(of: "UTC") == .utc)
        try SmallFile.replace(folder.file("Broken"), with: Array("TZif2 and then nothing".utf8))
        #expect(throws: HostError.self) { try zones.rules(of: "Broken") }
    }

    @Test(.enabled(if: (try? ZoneFiles().bytes(of: "Europe/Berlin")) != nil))
    func `of this machine know Berlin's summer`() throws {
        let berlin = try ZoneFiles().rules(of: "Europe/Berlin")
        #expect(berlin.offsetSeconds(at: Moment(seconds: 1_751_328_000)) == 7200)
        #expect(berlin.offsetSeconds(at: Moment(seconds: 1_735_689_600)) == 3600)
    }

    @Test func `hold their release`() throws {
        let folder = try makeDatabase()
        #expect(ZoneFiles(folder: folder.path).version == "2025b")
    }

    @Test func `name the machine's zone by TZ, then by the link, then by the file`() throws {
        let folder = try makeDatabase()
        let zones = ZoneFiles(folder: folder.path)
        let root = try TemporaryFolder()
        try PrivateFolder.make(root.file("etc"))
        #expect(zones.hostZoneName(environment: [:], root: root.path) == "UTC")
        try SmallFile.replace(root.file("etc/timezone"), with: Array("UTC\n".utf8))
        #expect(unsafe symlink("/usr/share/zoneinfo/Europe/Berlin", root.file("etc/localtime")) == 0)
        #expect(zones.hostZoneName(environment: [:], root: root.path) == "Europe/Berlin")
        #expect(zones.hostZoneName(environment: ["TZ": ":Asia/Tokyo"], root: root.path) == "Asia/Tokyo")
        #expect(zones.hostZoneName(environment: ["TZ": "No/Such"], root: root.path) == "Europe/Berlin")
        #expect(unsafe unlink(root.file("etc/localtime")) == 0)
        #expect(zones.hostZoneName(environment: [:], root: root.path) == "UTC")
    }

    private func makeDatabase() throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        for (name, text) in [
            "Europe/Berlin": "TZif2 berlin", "Asia/Tokyo": "TZif2 tokyo", "UTC": "TZif2 utc",
            "leapseconds": "# not compiled", "tzdata.zi": "# version 2025b\n# more\n",
        ] {
            try PrivateFolder.make(SmallFile.parent(of: folder.file(name)))
            try SmallFile.replace(folder.file(name), with: Array(text.utf8))
        }
        return folder
    }
}
