import API
import Host
import TestSupport
import Testing

/// The timers that packages of Debian 12 install: settings of their units as far as an import reads them.
@Suite struct `the timers of Debian` {
    /// Timer, service, and what becomes of each setting that starts it: an expression, another schedule, or `!` with a
    /// part of the reason.
    private static let units: [(name: String, timer: String, service: String, results: [String])] = [
        (
            "anacron", "OnCalendar=*-*-* 07..23:30\nRandomizedDelaySec=5m\nPersistent=true",
            "EnvironmentFile=/etc/default/anacron\nExecStart=/usr/sbin/anacron -d -q $ANACRON_ARGS",
            ["! uses EnvironmentFile"]
        ),
        (
            "apt-daily-upgrade", "OnCalendar=*-*-* 6:00\nRandomizedDelaySec=60m\nPersistent=true",
            """
            Type=oneshot
            ExecStartPre=-/usr/lib/apt/apt-helper wait-online
            ExecStart=/usr/lib/apt/apt.systemd.daily install
            """,
            ["! uses ExecStartPre"]
        ),
        (
            "apt-daily", "OnCalendar=*-*-* 6,18:00\nRandomizedDelaySec=12h\nPersistent=true",
            """
            Type=oneshot
            ExecStartPre=-/usr/lib/apt/apt-helper wait-online
            ExecStart=/usr/lib/apt/apt.systemd.daily update
            """,
            ["! uses ExecStartPre"]
        ),
        (
            "btrbk", "OnCalendar=daily\nAccuracySec=10min\nPersistent=true",
            "Type=oneshot\nExecStart=/usr/bin/btrbk run",
            ["0 0 * * *"]
        ),
        (
            "certbot", "OnCalendar=*-*-* 00,12:00:00\nRandomizedDelaySec=43200\nPersistent=true",
            "Type=oneshot\nExecStart=/usr/bin/certbot -q renew --no-random-sleep-on-renew",
            ["0 0,12 * * * spread 43200"]
        ),
        (
            "dpkg-db-backup", "OnCalendar=daily",
            "Type=oneshot\nExecStart=/usr/libexec/dpkg/dpkg-db-backup",
            ["0 0 * * *"]
        ),
        (
            "e2scrub_all", "OnCalendar=Sun *-*-* 03:10:00\nRandomizedDelaySec=60\nPersistent=true",
            "Type=oneshot\nEnvironment=SERVICE_MODE=1\nExecStart=/sbin/e2scrub_all",
            ["10 3 * * 0 spread 60"]
        ),
        (
            "exim4-base", "OnCalendar=daily\nAccuracySec=12h\nPersistent=true",
            "Type=oneshot\nExecStart=/etc/cron.daily/exim4-base systemd-timer\nNice=19",
            ["0 0 * * * nice 19"]
        ),
        (
            "fstrim", "OnCalendar=weekly\nAccuracySec=1h\nPersistent=true\nRandomizedDelaySec=6000",
            """
            Type=oneshot
            ExecStart=/sbin/fstrim --listed-in /etc/fstab:/proc/self/mountinfo --verbose --quiet-unsupported
            """,
            ["0 0 * * 1 spread 6000"]
        ),
        (
            "fwupd-refresh", "OnCalendar=*-*-* *:00:00\nRandomizedDelaySec=1h\nPersistent=true",
            "Type=oneshot\nUser=fwupd-refresh\nExecStart=/usr/bin/fwupdmgr refresh",
            ["0 * * * * spread 3600"]
        ),
        (
            "logrotate", "OnCalendar=daily\nAccuracySec=1h\nPersistent=true",
            "Type=oneshot\nExecStart=/usr/sbin/logrotate /etc/logrotate.conf\nNice=19",
            ["0 0 * * * nice 19"]
        ),
        (
            "man-db", "OnCalendar=daily\nRandomizedDelaySec=12h\nPersistent=true",
            """
            Type=oneshot
            ExecStart=+/usr/bin/install -d -o man -g man -m 0755 /var/cache/man
            ExecStart=/usr/bin/find /var/cache/man -type f -name *.gz -atime +6 -delete
            ExecStart=/usr/bin/mandb --quiet
            User=man
            Nice=19
            """,
            ["! has 3 commands"]
        ),
        (
            "mdadm-last-resort@", "OnActiveSec=30",
            "Type=oneshot\nExecStart=/sbin/mdadm --run /dev/%i",
            ["! OnActiveSec: it counts from"]
        ),
        (
            "mdcheck_continue", "OnCalendar=1:05:00",
            """
            Type=oneshot
            Environment="MDADM_CHECK_DURATION=6 hours"
            EnvironmentFile=-/run/sysconfig/mdadm
            ExecStartPre=-/usr/lib/mdadm/mdadm_env.sh
            ExecStart=/usr/share/mdadm/mdcheck --continue --duration ${MDADM_CHECK_DURATION}
            """,
            ["! uses ExecStartPre"]
        ),
        (
            "mdcheck_start", "OnCalendar=Sun *-*-1..7 1:00:00",
            """
            Type=oneshot
            Environment="MDADM_CHECK_DURATION=6 hours"
            EnvironmentFile=-/run/sysconfig/mdadm
            ExecStartPre=-/usr/lib/mdadm/mdadm_env.sh
            ExecStart=/usr/share/mdadm/mdcheck --duration ${MDADM_CHECK_DURATION}
            """,
            ["! uses ExecStartPre"]
        ),
        (
            "mdmonitor-oneshot", "OnCalendar=2:00:00",
            """
            Environment=MDADM_MONITOR_ARGS=--scan
            EnvironmentFile=-/run/sysconfig/mdadm
            ExecStartPre=-/usr/lib/mdadm/mdadm_env.sh
            ExecStart=/sbin/mdadm --monitor --oneshot $MDADM_MONITOR_ARGS
            """,
            ["! uses ExecStartPre"]
        ),
        (
            "ntpsec-rotate-stats", "OnCalendar=*-*-* 06:25:00\nPersistent=true",
            "Type=simple\nExecStart=/usr/libexec/ntpsec/rotate-stats",
            ["25 6 * * *"]
        ),
        (
            "phpsessionclean", "OnCalendar=*-*-* *:09,39:00\nPersistent=true",
            "Type=oneshot\nExecStart=/usr/lib/php/sessionclean",
            ["9,39 * * * *"]
        ),
        (
            "plocate-updatedb",
            "OnCalendar=daily\nRandomizedDelaySec=12h\nAccuracySec=20min\nPersistent=true",
            "Type=oneshot\nExecStart=/usr/sbin/updatedb.plocate",
            ["0 0 * * * spread 43200"]
        ),
        (
            "podman-auto-update", "OnCalendar=daily\nRandomizedDelaySec=900\nPersistent=true",
            """
            Type=oneshot
            ExecStart=/usr/bin/podman auto-update
            ExecStartPost=/usr/bin/podman image prune -f
            """,
            ["! uses ExecStartPost"]
        ),
        (
            "sysstat-collect", "OnCalendar=*:00/10",
            "Type=oneshot\nUser=root\nExecStart=/usr/lib/sysstat/sa1 1 1",
            ["0-59/10 * * * *"]
        ),
        (
            "sysstat-summary", "OnCalendar=00:07:00",
            "Type=oneshot\nUser=root\nExecStart=/usr/lib/sysstat/sa2 -A",
            ["7 0 * * *"]
        ),
        (
            "systemd-tmpfiles-clean", "OnBootSec=15min\nOnUnitActiveSec=1d",
            "Type=oneshot\nExecStart=systemd-tmpfiles --clean",
            ["startup 15m + every 1d"]
        ),
        (
            "pg_compresswal@", "OnCalendar=daily\nRandomizedDelaySec=1h\nFixedRandomDelay=true",
            "Type=oneshot\nUser=postgres\nExecStart=/usr/bin/pg_backupcluster %i compresswal",
            ["! %i"]
        ),
    ]

    @Test func `come in, or are refused with the reason`() async throws {
        #expect(Self.units.reduce(0) { $0 + $1.results.count } == 24)
        let run = try CommandRun()
        for unit in Self.units {
            try SmallFile.replace(
                run.folder.file("\(unit.name).timer"), with: Array("[Timer]\n\(unit.timer)\n".utf8))
            try SmallFile.replace(
                run.folder.file("\(unit.name).service"), with: Array("[Service]\n\(unit.service)\n".utf8))
        }
        for unit in Self.units {
            let answer = try await run.belfry("import systemd \(unit.name).timer --system --json")
            let jobs = try WireCoding.decode([ImportListing].self, from: answer.output.utf8)
            #expect(jobs.count == unit.results.count, "\(unit.name)")
            for (job, result) in zip(jobs, unit.results) {
                if result.hasPrefix("! ") {
                    #expect(job.refused?.contains(result.dropFirst(2)) == true, "\(unit.name): \(job)")
                } else {
                    #expect(job.refused == nil && Self.summary(job) == result, "\(unit.name): \(job)")
                }
            }
        }
    }

    private static func summary(_ job: ImportListing) -> String {
        var text = job.expression ?? job.schedule
        if let spread = job.spreadMs { text += " spread \(spread / 1000)" }
        if let nice = job.nice { text += " nice \(nice)" }
        return text
    }
}
