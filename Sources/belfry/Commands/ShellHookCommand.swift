import API
import APIClient
import ArgumentParser
import Host
import TerminalView
import Timeline

struct ShellHookCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "shell-hook",
        abstract: "Prints a script for your shell that notifies you when a long command has ended.",
        discussion: """
            Evaluate it in the file your shell reads at startup. Commands shorter than --after cost \
            nothing; editors, pagers and other interactive programs are left out, and shells and interpreters \
            without a script (the list is $BELFRY_HOOK_IGNORE, names separated by blanks, where it is set).

              belfry shell-hook bash                       print it
              eval "$(belfry shell-hook bash)"             in ~/.bashrc
              eval "$(belfry shell-hook zsh --after 1m)"   in ~/.zshrc
              belfry shell-hook fish | source              in ~/.config/fish/config.fish
              belfry shell-hook bash --notify auto         the terminal notifies, over ssh
            """)

    @Argument(help: "The shell: bash, zsh or fish.")
    var shell: ShellHook
    @Option(
        help: ArgumentHelp("Notify of commands that took at least this long.", valueName: "duration"),
        transform: DurationArgument.readSeconds)
    var after = DurationArgument(duration: .seconds(30))

    @Option(
        help: ArgumentHelp(
            "Have the terminal itself notify instead of the daemon.", valueName: "osc9|osc99|osc777|bell|auto"
        ),
        completion: .list(ShellHook.ways))
    var notify: String?

    func validate() throws {
        if let notify, !ShellHook.ways.contains(notify) {
            throw ValidationError(
                "--notify takes \(ShellHook.ways.joined(separator: ", ")), not \(Quoted.of(notify))")
        }
    }

    func run() throws {
        StandardOutput.print(shell.script(after: after.duration.milliseconds / 1000, notify: notify))
    }
}

/// The scripts that shells evaluate.
enum ShellHook: String, CaseIterable, ExpressibleByArgument {
    case bash, zsh, fish

    /// What `--notify` takes: a way of ``TerminalNotice``, or the one that the terminal understands.
    static let ways = TerminalNotice.allCases.map(\.rawValue) + ["auto"]

    /// The script, which notifies of commands of at least so many seconds, by the terminal where a way is named.
    func script(after seconds: Int64, notify way: String? = nil) -> String {
        let script =
            switch self {
            case .bash: Self.bashScript
            case .zsh: Self.zshScript
            case .fish: Self.fishScript
            }
        let report = "belfry shell-report" + (way.map { " --notify \($0)" } ?? "")
        return script.replacing("SECONDS_LIMIT", with: "\(seconds)")
            .replacing("belfry shell-report", with: report)
    }

    /// PS0 is expanded before a command runs, in the shell itself: no trap, and no process.
    private static let bashScript = #"""
        # Notifies when a command took SECONDS_LIMIT s or longer. From: belfry shell-hook bash
        if [[ "${PS0-}" != *__belfry_start* ]]; then
            PS0="${PS0-}"'${__belfry_none[__belfry_start=SECONDS+1,0]-}'
            __belfry_prompt() {
                local code=$? took line
                if (( ${__belfry_start:-0} > 0 )); then
                    took=$(( SECONDS + 1 - __belfry_start ))
                    __belfry_start=0
                    if (( took >= SECONDS_LIMIT )); then
                        line=$(HISTTIMEFORMAT= builtin history 1)
                        [[ "$line" =~ ^[[:space:]]*[0-9]+\*?[[:space:]]+(.*) ]] && line="${BASH_REMATCH[1]}"
                        ( belfry shell-report --code "$code" --seconds "$took" -- "$line" \
                            </dev/null >/dev/null 2>&1 & )
                    fi
                fi
                return "$code"
            }
            PROMPT_COMMAND="__belfry_prompt${PROMPT_COMMAND:+; $PROMPT_COMMAND}"
        fi
        """#

    private static let zshScript = #"""
        # Notifies when a command took SECONDS_LIMIT s or longer. From: belfry shell-hook zsh
        __belfry_preexec() { typeset -g __belfry_line="$1" __belfry_start=$(( SECONDS + 1 )) }
        __belfry_precmd() {
            local code=$? took
            (( ${__belfry_start:-0} > 0 )) || return 0
            took=$(( int(SECONDS + 1 - __belfry_start) ))
            __belfry_start=0
            if (( took >= SECONDS_LIMIT )); then
                belfry shell-report --code $code --seconds $took -- "$__belfry_line" \
                    </dev/null >/dev/null 2>&1 &!
            fi
        }
        zmodload zsh/mathfunc
        autoload -Uz add-zsh-hook
        add-zsh-hook preexec __belfry_preexec
        add-zsh-hook precmd __belfry_precmd
        """#

    private static let fishScript = #"""
        # Notifies when a command took SECONDS_LIMIT s or longer. From: belfry shell-hook fish
        function __belfry_postexec --on-event fish_postexec
            set -l code $status
            set -l took (math --scale=0 "$CMD_DURATION / 1000")
            if test $took -ge SECONDS_LIMIT -a -n "$argv[1]"
                belfry shell-report --code $code --seconds $took -- "$argv[1]" </dev/null >/dev/null 2>&1 &
                disown
            end
        end
        """#
}

/// What the scripts of ``ShellHookCommand`` start when a long command has ended.
struct ShellReportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "shell-report", abstract: "Notifies that a command of a shell has ended.",
        shouldDisplay: false)

    @Option(help: "How it ended.")
    var code: Int32
    @Option(help: "How long it took.")
    var seconds: Int64
    @Option(help: "How the terminal itself notifies; the daemon does without.")
    var notify: String?
    @Argument(help: "The command line.")
    var line: String
    @OptionGroup var common: CommonOptions

    func run() throws {
        guard let name = Self.name(of: line, code: code, Machine.environment) else { return }
        let took = Duration.seconds(seconds).words
        let end = code == 0 ? "done in \(took)" : "failed after \(took): exit code \(code)"
        if let notify {
            let way =
                TerminalNotice(rawValue: notify) ?? TerminalNotice(environment: Machine.environment)
            let bytes = way.bytes(
                title: name, body: end, throughTmux: Machine.environment["TMUX"] != nil)
            // The shell's own output goes elsewhere; the terminal is still there.
            return try ControllingTerminal.write(bytes)
        }
        var request = NotifyRequest(text: "\(PlainText.preview(line, limit: 200))\n\(end)")
        request.title = code == 0 ? "\(name) is done" : "\(name) failed"
        request.thread = "shell"
        _ = try common.client().ask(Endpoints.notify(body: request))
    }

    /// The name of the program of a command line that is worth a notice; nil of a program one sits in, and of one that was
    /// interrupted.
    private static func name(
        of line: String, code: Int32, _ environment: [String: String]
    ) -> String? {
        let words = line.split { $0 == " " || $0 == "\n" || $0 == "\t" }
        let leads: Set<Substring> = ["sudo", "doas", "env", "time", "nice"]
        let place = words.firstIndex { !$0.contains("=") && !leads.contains($0) }
        let name = place.map { String(words[$0].split(separator: "/").last ?? words[$0]) } ?? ""
        // Ctrl-C was pressed by whoever sits there.
        guard let place, !name.isEmpty, code != interrupted else { return nil }
        if let ignored = environment["BELFRY_HOOK_IGNORE"] {
            guard !ignored.split(separator: " ").contains(name[...]) else { return nil }
        } else {
            let hasWork = words[(place + 1)...].contains { !$0.hasPrefix("-") }
            guard !interactive.contains(name), hasWork || !interpreters.contains(name) else { return nil }
        }
        return name
    }

    private static let interrupted: Int32 = 130
    /// Programs that are interactive unless they are given a script or a command.
    private static let interpreters = [
        "bash", "zsh", "fish", "sh", "dash", "python", "python3", "ipython", "node", "psql", "sqlite3", "irb",
        "lua",
    ]
    private static let interactive = [
        "belfry", "vi", "vim", "nvim", "nano", "emacs", "micro", "hx", "less",
        "more",
        "most", "man", "top", "htop", "btop", "watch", "ssh", "mosh", "tmux", "screen", "fg", "tail",
        "journalctl",
        "su", "mc", "ranger", "lazygit", "tig",
    ]
}
