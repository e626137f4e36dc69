import Foundation
import Glibc
import TestSupport
import Testing

/// Agents of two users of this machine beside one daemon; needs root, to be both.
@Suite(
    .serialized, .timeLimit(.minutes(5)),
    .enabled("needs root, setpriv and perl") {
        geteuid() == 0
            && ["/usr/bin/setpriv", "/usr/bin/perl"].allSatisfy {
                FileManager.default.isExecutableFile(atPath: $0)
            }
    })
struct `the agents of two users` {
    /// Speaks as an agent does, and prints what it is sent.
    private static let script = #"""
        use IO::Socket::UNIX;
        $| = 1;
        my $s;
        # The daemon opens the place as soon as it serves a channel.
        for (1 .. 600) {
            $s = IO::Socket::UNIX->new(Peer => $ARGV[0]) and last;
            select(undef, undef, undef, 0.1);
        }
        $s or die "connect: $!";
        $s->autoflush(1);
        print $s "{\"kind\":\"hello\",\"instance\":\"i-$<\"}\n";
        while (my $line = <$s>) {
            print $line;
            my ($kind) = $line =~ /"kind":"([a-z]+)"/;
            my ($channel) = $line =~ /"channel":"([^"]*)"/;
            my ($number) = $line =~ /"number":(\d+)/;
            if ($line =~ /"kind":"serve"/) {
                print $s "{\"kind\":\"report\",\"channel\":\"$channel\",\"number\":1,\"report\":{\"kind\":\"available\",\"text\":\"g\"}}\n";
            }
            if ($line =~ /"kind":"show"/) {
                print $s "{\"kind\":\"answer\",\"channel\":\"$channel\",\"number\":$number,\"remote\":{\"generation\":\"g\",\"id\":\"$number\"}}\n";
            }
        }
        """#

    private func agent(_ userID: Int, _ belfry: Belfry) throws -> ChildProcess {
        try ChildProcess(
            "/usr/bin/setpriv",
            [
                "--reuid=\(userID)", "--regid=\(userID)", "--clear-groups", "/usr/bin/perl", "-e",
                Self.script,
                "\(belfry.folder.file("run"))/agents.sock",
            ], streams: .bothInLines)
    }

    @Test func `are sent what is for their own user, and nothing of the other's`() async throws {
        let belfry = try Belfry()
        try belfry.write(
            """
            channels:
              one: { kind: desktop, user: "1" }
              two: { kind: desktop, user: "2" }
            routes:
              - { when: [failed], to: [one] }

            """, to: "belfry.yaml")
        try await belfry.start()
        try await belfry.until {
            try await belfry.json("channel", "list").list.allSatisfy {
                $0["lastError"].text?.contains("belfry agent does not run") == true
            }
        }
        let status = try await belfry.run("status")
        #expect(
            status.text.contains("nobody shows it: belfry agent does not run in the session of 1"),
            "\(status.text)")
        // Others may enter, as the folder of the system's daemon lets them.
        for path in [belfry.folder.path, belfry.folder.file("run")] {
            try FileManager.default.setAttributes([.posixPermissions: 0o711], ofItemAtPath: path)
        }
        let (one, two, third) = (try agent(1, belfry), try agent(2, belfry), try agent(3, belfry))
        for name in ["one", "two"] {
            try await belfry.until {
                try await belfry.json("channel", "list").list.first { $0["name"].text == name }?["state"].text
                    == "working"
            }
            #expect(try await belfry.run("notify", "--to", name, "secret of \(name)").code == 0)
        }
        var seen: [String] = []
        for (name, process) in [("one", one), ("two", two)] {
            let line = await process.line { line in
                seen.append(line)
                return line.contains("secret of \(name)")
            }
            #expect(line != nil)
        }
        // What each was sent since, to its end.
        try await belfry.stop()
        for (process, other) in [(one, "two"), (two, "one"), (third, "")] {
            let rest = await process.line { $0.contains(other.isEmpty ? "\"" : "secret of \(other)") }
            #expect(rest == nil, "\(rest ?? "")")
        }
        #expect(seen.filter { $0.contains("secret of") }.count == 2, "\(seen)")
    }
}

@Suite(.serialized, .timeLimit(.minutes(5))) struct `belfry agent` {
    @Test func `shows on its session's desktop what names its user`() async throws {
        let bus = try await PrivateBus.start()
        let server = try await NotificationServer.start(at: bus.address)
        let belfry = try Belfry()
        try belfry.write(
            """
            channels:
              mine: { kind: desktop, user: "\(geteuid())" }
            routes:
              - { when: [failed], to: [mine] }

            """, to: "belfry.yaml")
        try await belfry.start()
        var environment = belfry.environment
        environment["DBUS_SESSION_BUS_ADDRESS"] = bus.address
        let agent = try ChildProcess(
            BuiltProgram.path("belfry"), ["agent", "--at", "\(belfry.folder.file("run"))/agents.sock"],
            environment: environment, streams: .bothInLines)
        #expect(try await belfry.run("notify", "--to", "mine", "Hello").code == 0)
        let call = try #require(try await server.next())
        #expect((call.summary + call.body).contains("Hello"), "\(call)")
        agent.signal(SIGTERM)
        #expect(await agent.status() == 0)
    }
}
