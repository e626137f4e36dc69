import Glibc
import Host
import Performing
import TestSupport
import Testing
import WardenProtocol

@Suite(.timeLimit(.minutes(5))) struct `a bounded job` {
    @Test func `has its priority, mask and limits, and goes before others when memory runs out`() async throws
    {
        let warden = try await WardenAtWork()
        var order = warden.order(
            .shell("nice; umask; ulimit -n; ulimit -t; ulimit -c; cat /proc/self/oom_score_adj"))
        order.nice = 7
        order.umask = 0o27
        order.limits = [.descriptors: 99, .cpuSeconds: 55, .coreBytes: 0]
        #expect(try await warden.run(order).exitCode == 0)
        let own = try Int(SmallFile.text("/proc/self/oom_score_adj")) ?? 0
        #expect(try warden.log(of: order) == "7\n0027\n99\n55\n0\n\(min(1000, own + 200))\n")
    }

    @Test func `is ended by the kernel at its limit`() async throws {
        let warden = try await WardenAtWork()
        var order = warden.order(.shell("head -c 100000 /dev/zero > big; echo $?; wc -c < big"))
        order.limits = [.fileBytes: 4096]
        try await warden.run(order)
        #expect(try warden.log(of: order).hasSuffix("4096\n"))
    }

    @Test(.enabled(if: geteuid() == 0)) func `runs as the user it names, with that user's home`() async throws
    {
        let warden = try await WardenAtWork(scene: ["chmod 711 ${0%/*}"])
        try PrivateFolder.make(warden.folder.file("open"))
        #expect(unsafe chmod(warden.folder.file("open"), 0o777) == 0)
        for user in ["nobody", "65534"] {
            var order = warden.order(
                .shell(
                    """
                    id -un; id -u; id -G; echo $HOME $USER
                    grep CapEff /proc/self/status | cut -f 2
                    test -w $NOTIFY_SOCKET && echo reports
                    """), run: "as-" + user)
            order.user = user
            order.folder = warden.folder.file("open")
            #expect(try await warden.run(order).exitCode == 0)
            let home = try #require(try Account.find("nobody")).home
            #expect(
                try warden.log(of: order)
                    == "nobody\n65534\n65534\n\(home) nobody\n0000000000000000\nreports\n")
        }
    }

    @Test(.enabled(if: geteuid() == 0)) func `as another user inherits nothing of the warden's own`()
        async throws
    {
        let warden = try await WardenAtWork(scene: [
            "chmod 711 ${0%/*}", "export TOKEN=secret XDG_RUNTIME_DIR=/run/user/0 OLDPWD=/root",
            "export PATH=/root/bin:$PATH LANG=C.UTF-8 LC_TIME=C TZ=UTC",
        ])
        let names = "echo ${TOKEN-none} ${XDG_RUNTIME_DIR-none} ${OLDPWD-none} $PATH $LANG $LC_TIME $TZ $OWN"
        var order = warden.order(.shell(names))
        order.environment["OWN"] = "named"
        order.folder = "/"
        order.user = "nobody"
        #expect(try await warden.run(order).exitCode == 0)
        #expect(
            try warden.log(of: order)
                == "none none none /usr/local/bin:/usr/bin:/bin C.UTF-8 C UTC named\n")
        order = warden.order(.shell("echo $TOKEN"), run: "as-itself")
        try await warden.run(order)
        #expect(try warden.log(of: order) == "secret\n")
    }

    @Test func `is refused a user that is not there`() async throws {
        let warden = try await WardenAtWork()
        var order = warden.order(.command(["true"]))
        order.user = "no-such-user"
        warden.client.send(.start(order))
        try await warden.until { event in
            guard case .refused(order.key, let reason, let text) = event else { return false }
            #expect(reason == .noSuchUser)
            #expect(text == "this machine has no user \"no-such-user\"")
            return true
        }
    }

    @Test(.enabled(if: geteuid() == 0)) func `is refused what only root may, by a warden that is not root's`()
        async throws
    {
        let program = try BuiltProgram.path("belfry-warden")
        let plain = try await WardenAtWork(scene: [
            "chown -R 65534 ${0%/*}",
            "exec setpriv --reuid=65534 --clear-groups -- \(program) \"$@\"",
        ])
        for (name, change): (String, (inout ProcessOrder) -> Void) in [
            ("user", { $0.user = "root" }), ("nice", { $0.nice = -5 }),
        ] {
            var order = plain.order(.command(["true"]), run: name)
            change(&order)
            plain.client.send(.start(order))
            try await plain.until { event in
                guard case .refused(order.key, let reason, _) = event else { return false }
                #expect(reason == .notPermitted)
                return true
            }
        }
    }

    @Test func `has its time and memory measured`() async throws {
        let warden = try await WardenAtWork()
        let record = try await warden.run(
            warden.order(.shell("i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done")))
        #expect(try #require(record.cpu) > .milliseconds(1))
    }

    @Test func `has its memory reported when it used more than its warden did, and none made up otherwise`()
        async throws
    {
        let warden = try await WardenAtWork()
        let small = try await warden.run(warden.order(.command(["true"]), run: "small"))
        #expect(small.maxResidentKiB == nil)
        // 200 MB read in one piece; the warden is a tenth of that.
        let large = try await warden.run(
            warden.order(
                .command(["dd", "if=/dev/zero", "of=/dev/null", "bs=200M", "count=1"]), run: "large"))
        #expect((200 << 10..<220 << 10).contains(try #require(large.maxResidentKiB)))
    }
}
