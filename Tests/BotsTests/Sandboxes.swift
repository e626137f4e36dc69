import Bots
import Glibc
import Host
import Prompting
import TestSupport
import Testing

/// Real sandboxes of bubblewrap, and programs that try to leave them.
@Suite(
    .timeLimit(.minutes(5)),
    .enabled("bubblewrap is here, and the kernel lets it work") {
        try await Shell.run("bwrap --ro-bind / / --unshare-all true", in: "/") == 0
    }) struct `a sandbox of a bot`
{
    /// A home with a secret, a folder that may be read, one that may be written, and a link that leads out of both.
    private func home() throws -> TemporaryFolder {
        let home = try TemporaryFolder()
        for folder in [".ssh", "docs", "work", "other"] { try PrivateFolder.make(home.file(folder)) }
        try SmallFile.replace(home.file(".ssh/id"), with: Array("secret\n".utf8))
        try SmallFile.replace(home.file("docs/text"), with: Array("readable\n".utf8))
        try SmallFile.replace(home.file("other/text"), with: Array("secret\n".utf8))
        for folder in ["docs", "work"] {
            unsafe symlink(home.file(".ssh"), home.file(folder + "/out"))
            unsafe symlink("../other", home.file(folder + "/up"))
        }
        return home
    }

    /// What a script prints in the sandbox, line by line.
    private func run(_ script: String, in home: TemporaryFolder, network: Bool = false) async throws
        -> [String]
    {
        // It reads its prompt in any case: who writes to a program that has ended is ended by a signal.
        let command = ["/bin/sh", "-c", script + "; cat > /dev/null", "bot"]
        var program = BotProgram(.text, command: command)
        program.sandbox = Sandbox(
            read: [home.file("docs")], write: [home.file("work")], hasNetwork: network)
        let call = program.call("the prompt", home: home.path)
        let process = try ChildProcess(
            call.words[0], Array(call.words.dropFirst()), environment: ["HOME": home.path],
            streams: .bothInLines)
        try process.write(call.input ?? "")
        try process.closeInput()
        var lines: [String] = []
        for await line in process.lines { lines.append(line) }
        return lines
    }

    @Test func `lets the program read its prompt, the system and what is named`() async throws {
        let home = try home()
        let lines = try await run("cat; cat docs/text; pwd; ls /usr/bin/env", in: home)
        #expect(lines == ["the prompt", "readable", home.path, "/usr/bin/env"])
    }

    @Test(arguments: [
        "cat ~/.ssh/id", "cat $HOME/.ssh/id", "cat docs/../.ssh/id", "cat docs/out/id", "cat work/out/id",
        "cat docs/up/text", "cat work/../other/text", "cat /proc/1/root$HOME/.ssh/id",
        "cat /proc/self/root$HOME/.ssh/id", "cd work && ln -s ../.ssh mine && cat mine/id",
        "cat /etc/shadow", "ls /root /home /var /run /mnt /srv | grep -v :",
        "mount --bind / /mnt; cat /mnt$HOME/.ssh/id", "unshare -Ur cat ~/.ssh/id",
        "nsenter -t 1 -m cat ~/.ssh/id",
    ])
    func `keeps everything else of its user's out of reach`(script: String) async throws {
        let lines = try await run("(\(script)) 2>/dev/null; echo over", in: home())
        #expect(lines == ["over"])
    }

    @Test func `lets it write where it may, and nowhere else`() async throws {
        let home = try home()
        let script = """
            for place in work docs . ~ / /usr /etc /var /tmp; do
                (echo x > $place/written-inside) 2>/dev/null && echo "$place"
            done
            mount -o remount,rw /usr 2>/dev/null && echo remounted
            """
        let lines = try await run(script, in: home)
        #expect(lines == ["work", ".", home.path, "/tmp"])
        // Home and /tmp are its own, and end with it.
        #expect(PathContent(at: home.file("work/written-inside")) == .file)
        for place in ["written-inside", "docs/written-inside"] {
            #expect(PathContent(at: home.file(place)) == .nothing)
        }
        #expect(PathContent(at: "/tmp/written-inside") == .nothing)
    }

    @Test func `has the network only when it is named`() async throws {
        let server = try await ProviderServer(.init("here", type: "text/plain"))
        let script = """
            python3 -c 'import urllib.request as u; print(u.urlopen("\(server.url())", timeout=120).read().decode())' \
            2>/dev/null; echo over
            """
        #expect(try await run(script, in: home(), network: true) == ["here", "over"])
        #expect(try await run(script, in: home()) == ["over"])
    }

    @Test func `sees no process but its own`() async throws {
        let lines = try await run("cat /proc/[0-9]*/comm | sort -u", in: home())
        #expect(lines.contains("cat") && Set(lines).isSubset(of: ["bwrap", "cat", "sh", "sort"]))
    }
}
