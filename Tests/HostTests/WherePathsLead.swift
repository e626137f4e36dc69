import Glibc
import Host
import TestSupport
import Testing

@Suite struct `paths` {
    @Test func `follow the XDG folders`() {
        let environment = [
            "HOME": "/home/ann", "XDG_CONFIG_HOME": "/c", "XDG_STATE_HOME": "/s", "XDG_RUNTIME_DIR": "/r",
        ]
        let paths = Paths(.user, environment: environment, userID: 1234)
        #expect(paths.config == "/c/belfry/belfry.yaml")
        #expect(paths.state == "/s/belfry")
        #expect(paths.socket == "/r/belfry/belfry.sock")
    }

    @Test func `fall back to home and to a private folder in tmp`() {
        let paths = Paths(.user, environment: ["HOME": "/home/ann"], userID: 987_654)
        #expect(paths.config == "/home/ann/.config/belfry/belfry.yaml")
        #expect(paths.state == "/home/ann/.local/state/belfry")
        #expect(paths.socket == "/tmp/belfry-987654/belfry/belfry.sock")
    }

    @Test func `ignore a relative XDG folder, as its specification asks`() {
        let environment = ["HOME": "/home/ann", "XDG_STATE_HOME": "state"]
        #expect(Paths(.user, environment: environment, userID: 1).state == "/home/ann/.local/state/belfry")
    }

    @Test func `of the machine are fixed`() {
        let paths = Paths(
            .system, environment: ["HOME": "/root", "XDG_RUNTIME_DIR": "/run/user/0"], userID: 0)
        #expect(paths.config == "/etc/belfry/belfry.yaml")
        #expect(paths.state == "/var/lib/belfry")
        #expect(paths.socket == "/run/belfry/belfry.sock")
    }

    @Test func `on the command line win over the environment, which wins over defaults`() {
        let environment = ["HOME": "/h", "BELFRY_STATE": "/env/state", "BELFRY_SOCKET": "/env/sock"]
        let paths = Paths(
            .user, overrides: Paths.Overrides(state: "/flag/state"), environment: environment, userID: 1)
        #expect(paths.state == "/flag/state")
        #expect(paths.socket == "/env/sock")
    }

    @Test func `that are relative are meant from the folder the process started in`() {
        let environment = ["HOME": "/h", "BELFRY_SOCKET": "./s.sock", "BELFRY_CONFIG": "c.yaml"]
        let paths = Paths(
            .user, overrides: .init(state: "state"), environment: environment, userID: 1, folder: "/work")
        #expect(paths.state == "/work/state")
        #expect(paths.socket == "/work/s.sock")
        #expect(paths.config == "/work/c.yaml")
        #expect(Paths.absolute("x", in: "/") == "/x")
        #expect(Paths.absolute("/x", in: "/work") == "/x")
    }

    @Test func `know whether the configuration was named`() {
        let environment = ["HOME": "/h"]
        #expect(!Paths(.user, environment: environment, userID: 1).isConfigNamed)
        #expect(Paths(.user, overrides: .init(config: "/c"), environment: environment).isConfigNamed)
        #expect(Paths(.user, environment: ["HOME": "/h", "BELFRY_CONFIG": "/c"]).isConfigNamed)
    }

    @Test func `give each state its own warden`() {
        let environment = ["HOME": "/h", "XDG_RUNTIME_DIR": "/r"]
        let one = Paths(.user, overrides: .init(state: "/a"), environment: environment, userID: 1).warden
        let two = Paths(.user, overrides: .init(state: "/b"), environment: environment, userID: 1).warden
        #expect(one != two)
        #expect(one.hasPrefix("/r/belfry/"))
        #expect(one.split(separator: "/").last?.count == 16)
    }

    @Test func `name one warden before and after the state exists, and through a link`() throws {
        let folder = try TemporaryFolder()
        #expect(unsafe symlink(folder.path, folder.file("link")) == 0)
        func warden(_ state: String) -> String {
            Paths(.user, overrides: .init(state: state), environment: ["HOME": "/h"], userID: 1).warden
        }
        let before = warden(folder.file("a/state"))
        #expect(warden(folder.file("link/a/state")) == before)
        try PrivateFolder.make(folder.file("a/state"))
        #expect(warden(folder.file("a/state")) == before)
        #expect(warden(folder.file("link/a/state")) == before)
    }

    @Test func `refuse a socket path the kernel cannot bind`() throws {
        let long = "/tmp/" + String(repeating: "x", count: 110)
        let paths = Paths(.user, overrides: .init(socket: long), environment: ["HOME": "/h"], userID: 1)
        #expect(throws: HostError.socketPathTooLong(path: long)) { try paths.makeFolders() }
    }

    @Test func `are tried by a client from the nearest to the machine's`() {
        #expect(
            Paths.socketsToTry(environment: ["XDG_RUNTIME_DIR": "/r"], userID: 1)
                == ["/r/belfry/belfry.sock", "/run/belfry/belfry.sock"])
        #expect(Paths.socketsToTry(environment: ["BELFRY_SOCKET": "/x"], userID: 1) == ["/x"])
    }
}
