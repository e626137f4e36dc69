import Delivery
import Grouping
import Timeline
import Tracking

// What a job's notices show.

extension JobFields {
    static let notices: [JobField] = [
        JobField(
            "notify.when", .choices(NotifyWish.outcomes.map(\.rawValue)), .wish,
            "Notify of these outcomes only, whatever the routes say: a comma-separated list of completed, failed, recovered, canceled, lost, missed, skipped and blocked, or none.",
            option: "notify", isRemovable: true,
            shown: { policies in
                guard case .array(let words)? = policies[path: "notify.when"] else { return nil }
                let names = words.compactMap(\.text)
                return names.isEmpty ? "notifies: never" : "notifies: only when \(JobFields.either(names))"
            }),
        JobField(
            "notify.message", .choice(["output"]), .outputMessage,
            "What a successful run sends as a message of its bot: output, what it printed.",
            option: "notify-message", isRemovable: true, shown: { _ in nil }),
        JobField(
            "notify.output", .choice(OutputMessage.allCases.map(\.rawValue)), .messagePart,
            "How much of its output that message holds (default: last-line): last-line, tail or all.",
            option: "notify-output",
            check: { spec in
                guard spec.outputMessage == nil else { return nil }
                return JobFault(
                    "applies only to message: output",
                    hint: "write notify: { message: output, output: tail }",
                    advice: "add --notify-message output")
            },
            shown: { policies in
                policies[path: "notify.output"]?.text.map { "message: its output (\($0))" }
            }),
        JobField(
            "notify.to", .text(longest: 63), .at(\.outputChannel),
            "The channel that alone gets that message, whatever the routes say.",
            option: "notify-to", isRemovable: true,
            check: { spec in
                guard spec.outputChannel != nil, spec.outputMessage == nil else { return nil }
                return JobFault(
                    "applies only to message: output", hint: "write notify: { message: output, to: CHANNEL }",
                    advice: "add --notify-message output")
            },
            shown: { $0[path: "notify.to"]?.text.map { "its output goes to: \($0)" } }),
        JobField(
            "notify.after", .duration(orZero: true), .at(\.notifyAfter),
            "Without routes, report a run that you asked for as completed if it took this long (default: 10s).",
            option: "notify-after",
            shown: {
                $0.duration("notify.afterMs").map { "reported as completed after \($0)" }
            }
        ),
        JobField(
            "notify.alertAfter", .number(1...100), .at(\.alertAfter),
            "Notify of failures only from this many in a row (default: the bot's, or 1).",
            option: "alert-after", isRemovable: true,
            shown: { $0[path: "notify.alertAfter"]?.int.map { "notifies after \($0) failures in a row" } }),
        JobField(
            "notify.urgency", .choice(Urgency.allCases.map(\.rawValue)), .urgency,
            "How much a failure disturbs: low, normal or critical (default: the bot's, or critical).",
            option: "urgency", isRemovable: true,
            shown: { $0[path: "notify.urgency"]?.text.map { "urgency: \($0)" } }),
        JobField(
            "notify.icon", .icon, .at(\.icon),
            "The icon of its notifications: a name or an absolute path.", option: "icon", isRemovable: true,
            shown: { $0[path: "notify.icon"]?.text.map { "icon: \($0)" } }),
        JobField(
            "notify.sound", .text(), .at(\.sound),
            "The sound of its notifications: a name of the sound theme, or a path (default: the bot's).",
            option: "sound", isRemovable: true,
            shown: { $0[path: "notify.sound"]?.text.map { "sound: \($0)" } }),
        JobField(
            "notify.sounds", .variables(), .sounds,
            "The sound of one kind of news, as failed=alarm: sent, status, failed, question or completed; repeatable.",
            option: "sound-of", isRemovable: true, check: { JobSounds.fault(in: $0.sounds) },
            shown: { policies in
                guard case .members(let sounds)? = policies[path: "notify.sounds"], !sounds.isEmpty else {
                    return nil
                }
                return "sounds: " + sounds.map { "\($0.name)=\($0.value.text ?? "")" }.joined(separator: " ")
            }),
        JobField(
            "notify.preview", .text(longest: 6), .at(\.preview),
            "How many characters of its texts the desktop shows (10 to 500), or hidden (default: the bot's).",
            option: "preview", isRemovable: true, check: { JobPreview.fault(in: $0.preview) },
            shown: { $0[path: "notify.preview"]?.text.map { "preview: \($0)" } }),
        JobField(
            "labels", .variables(), .labels,
            "A label such as host=db1; labels that failing jobs share are named in the notification; repeatable.",
            option: "label", isRemovable: true, check: { JobLabels.fault(in: $0.labels) },
            shown: { policies in
                guard case .members(let labels)? = policies["labels"], !labels.isEmpty else { return nil }
                return "labels: " + labels.map { "\($0.name)=\($0.value.text ?? "")" }.joined(separator: " ")
            }),
    ]
}
