import Cron
import Testing

@Suite struct `a crontab` {
    private static let everyday = """
        # m h dom mon dow command
        SHELL=/bin/bash
        PATH = "/usr/local/bin:/usr/bin"
          MAILTO=''

        30 2 * * 1-5   /usr/local/bin/backup --all
        @reboot\tstart-me
        */15 * * * *  date +\\%F > /tmp/now
        MAILTO=ops@example.com
        0 9 * * MON  mail -s report root%Dear all,%%100\\% done\r
        """

    @Test func `gives its jobs with the settings above them`() throws {
        let lines = Crontab(Self.everyday, form: .user).lines
        try #require(lines.count == 4)
        #expect(lines.map(\.number) == [6, 7, 8, 10])
        #expect(lines.map(\.times) == ["30 2 * * 1-5", "@reboot", "*/15 * * * *", "0 9 * * MON"])
        #expect(lines[0].command == "/usr/local/bin/backup --all" && lines[1].command == "start-me")
        #expect(
            lines[0].environment == [
                "SHELL": "/bin/bash", "PATH": "/usr/local/bin:/usr/bin", "MAILTO": "",
            ])
        #expect(lines[3].environment["MAILTO"] == "ops@example.com")
        #expect(lines.allSatisfy { $0.problem == nil && $0.user == nil })
    }

    @Test func `reads percent signs as cron does`() throws {
        let lines = Crontab(Self.everyday, form: .user).lines
        #expect(lines[2].command == "date +%F > /tmp/now" && lines[2].input == nil)
        #expect(lines[3].command == "mail -s report root")
        #expect(lines[3].input == "Dear all,\n\n100% done")
        #expect(lines[2].shellText == lines[2].command)
        #expect(
            lines[3].shellText == """
                {
                mail -s report root
                } <<'END_OF_INPUT'
                Dear all,

                100% done
                END_OF_INPUT
                """)
        let fish = Crontab("SHELL=/usr/bin/fish\n@daily cat%x", form: .user).lines
        #expect(fish.first?.input == "x" && fish.first?.shellText == nil)
        let own = Crontab("@daily cat%END_OF_INPUT", form: .user).lines
        #expect(own.first?.shellText?.hasSuffix("\nEND_OF_INPUT_") == true)
        let carriage = Crontab("@daily cat%a\r%END_OF_INPUT%b", form: .user).lines
        #expect(carriage.first?.shellText?.hasSuffix("\nEND_OF_INPUT_") == true)
    }

    @Test func `of the system names a user`() throws {
        let text = "17 *\t* * *\troot\tcd / && run-parts --report /etc/cron.hourly\n"
        let line = try #require(Crontab(text, form: .system).lines.first)
        #expect(line.times == "17 * * * *" && line.user == "root")
        #expect(line.command == "cd / && run-parts --report /etc/cron.hourly")
        let users: Set = ["root", "backup", "www-data"]
        #expect(Crontab.form(of: text, isUser: users.contains) == .system)
        #expect(Crontab.form(of: "5 4 * * * www-data /usr/bin/php x", isUser: users.contains) == .system)
        #expect(Crontab.form(of: "5 4 * * * backup /home", isUser: users.contains) == .user)
        #expect(Crontab.form(of: Self.everyday, isUser: users.contains) == .user)
        #expect(Crontab.form(of: "", isUser: users.contains) == .user)
    }

    @Test(arguments: [
        ("0 25 * * * x", "hour: 25 is outside 0-23"), ("0 2 * *", "expected 5 time fields, found 4"),
        ("0 2 * * *", "the command is missing"), ("@never x", "not known"),
        ("@daily", "the command is missing"),
        ("hello", "expected 5 time fields, found 1"), ("5/15 * * * * x", "step"),
    ])
    func `keeps a line that cron would refuse, with the reason`(text: String, reason: String) throws {
        let line = try #require(Crontab(text, form: .user).lines.first)
        #expect(line.problem?.contains(reason) == true, "\(line.problem ?? "nothing")")
    }

    /// Each job has the settings above it, so a text could ask for a copy of thousands at thousands of lines.
    @Test func `is refused from where it has too many settings or lines`() throws {
        let text = (1...150).map { "V\($0)=1\n@daily x\nV1=\($0)\n" }.joined()
        let lines = Crontab(text, form: .user).lines
        #expect(lines.count == 150 && lines.allSatisfy { $0.environment.count <= 100 })
        #expect(lines[..<100].allSatisfy { $0.problem == nil })
        #expect(lines[99].environment["V100"] == "1" && lines[99].environment["V1"] == "99")
        #expect(lines[100...].allSatisfy { $0.problem == "there are more than 100 settings above it" })
        let long = String(repeating: "\n", count: 9_999) + "@daily x\nA=b\n@daily y\n"
        let last = Crontab(long, form: .user).lines
        #expect(last.map(\.number) == [10_000, 10_002])
        #expect(last.map(\.problem) == [nil, "a crontab has at most 10000 lines"])
        #expect(last[1].environment.isEmpty)
    }

    @Test(arguments: [
        ("A=b c ", "A", "b c"), ("  A = 'b c ' ", "A", "b c "), ("\"A B\"=c", "A B", "c"), ("A=", "A", ""),
        ("A=b#c", "A", "b#c"), ("A=\"b", "", ""), ("A='b' c", "", ""),
    ])
    func `has settings of one shape`(text: String, name: String, value: String) {
        let line = Crontab("\(text)\n@daily x", form: .user).lines.last
        #expect(line?.environment == (name.isEmpty ? [:] : [name: value]))
    }

    @Test(arguments: [
        ("/usr/local/bin/Backup.sh --all", "backup.sh"), ("cd /srv/app && ./bin/tick", "tick"),
        ("test -x /usr/sbin/anacron || run-parts --report /etc/cron.daily", "cron.daily"),
        (
            "test -x /usr/sbin/anacron || { cd / && run-parts --report /etc/cron.weekly; }", "cron.weekly"
        ),
        ("run-parts", "run-parts"),
        ("FOO=1 nice -n 10 restic backup /home", "restic"), ("@@@", "job"),
        ("python3 /opt/x/report.py", "report.py"),
        ("for i in 1 2 3; do /usr/local/bin/poll $i; done", "poll"),
        ("for f in $(ls /srv/*.log); do sleep 1; gzip \"$f\"; done", "gzip"),
        ("sleep 30; /opt/bin/fetch", "fetch"), ("sleep 30 && curl -fsS https://x.example/ping", "curl"),
        ("echo start; /usr/bin/rsync -a /a /b; echo end", "rsync"), ("echo hello > /tmp/x", "echo-hello"),
        ("echo 1 >> /var/log/heartbeat.log 2>&1", "heartbeat"), ("sleep 30 >/dev/null", "sleep"),
        ("echo \"$(date +", "echo"), ("date > /run/stamps/alive", "alive"),
        ("if [ -x /etc/munin/plugins/apt_all ]; then /etc/munin/plugins/apt_all update; fi", "apt_all"),
        ("while read l; do handle \"$l\"; done < /etc/list", "handle"),
        ("/usr/bin/flock -w 0 /var/lock/x /usr/local/bin/sync-mail", "sync-mail"),
        ("flock -n /tmp/l /usr/bin/sync-mail", "sync-mail"),
        ("flock -E 4 -w 5 /tmp/l -c 'sync-mail --all'", "sync-mail"),
        ("(flock -n 9 || exit 1; sync-mail) 9>/run/l", "sync-mail"),
        ("timeout -k 5 30 /usr/bin/t4", "t4"), ("timeout --kill-after=5 -s KILL 30 t4", "t4"),
        ("ionice -c 3 nice -n 19 /usr/bin/updatedb", "updatedb"), ("nice -19 updatedb", "updatedb"),
        ("sleep $((RANDOM % 60)); curl -fsS https://x.example/ping", "curl"),
        ("bash -o pipefail -c 'dump | gzip'", "dump"), ("time -p rsync /a /b", "rsync"),
        ("sudo -u www-data php -f /var/www/nextcloud/cron.php", "cron.php"),
        ("bash -c 'cd /srv && ./deploy.sh --all'", "deploy.sh"),
        ("timeout 5m nice -n 19 updatedb", "updatedb"),
        ("date", "date"), ("[ -e /x ] && rm /x", "rm"),
    ])
    func `gets names from its commands`(command: String, name: String) {
        var names = CommandNames()
        #expect(names.name(for: command) == name)
    }

    @Test func `gets no name twice and none that is taken`() {
        var names = CommandNames(taken: ["show"])
        #expect(["x", "/bin/x", "X y", "show"].map { names.name(for: $0) } == ["x", "x-2", "x-3", "show-2"])
        let long = String(repeating: "a", count: 100)
        #expect([names.name(for: long), names.name(for: long)].allSatisfy { $0.utf8.count == 63 })
    }
}
