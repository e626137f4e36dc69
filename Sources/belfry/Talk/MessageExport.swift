import API
import ArgumentParser
import Host
import Timeline

/// Messages written to be kept, oldest first.
struct MessageExport {
    /// How they are written.
    enum Form: String, ExpressibleByArgument, CaseIterable {
        /// Markdown.
        case md
        /// One JSON array.
        case json
    }

    let form: Form
    let zone: ZoneRules

    /// Prints them to standard output.
    func print(_ messages: [WireMessage]) throws {
        switch form {
        case .json: StandardOutput.print(try WireCoding.text(messages))
        case .md: for line in lines(messages) { StandardOutput.print(line) }
        }
    }

    /// A heading for each thread, and below it what was said: each text as a quote, so that nothing in it is read as
    /// Markdown of this page.
    private func lines(_ messages: [WireMessage]) -> [String] {
        var lines: [String] = []
        let threads = Dictionary(grouping: messages) { [$0.bot, $0.thread] }
        for (key, messages) in threads.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            lines += ["# \(PlainText.oneLine(key[0])): \(PlainText.oneLine(key[1]))", ""]
            for message in messages {
                let sender = message.from == "user" ? message.sender ?? "you" : message.bot
                let time = Moment(seconds: message.at.moment.seconds).iso8601(in: zone)
                let extras = (message.reactions ?? []) + (message.attachments ?? []).map(\.name)
                let extra =
                    extras.isEmpty ? "" : " (\(extras.map(PlainText.oneLine).joined(separator: ", ")))"
                lines += ["**\(PlainText.oneLine(sender))**, \(time)\(extra)", ""]
                if let title = message.title { lines += ["> **\(PlainText.oneLine(title))**", ">"] }
                lines += PlainText.lines(message.text).map { $0.isEmpty ? ">" : "> \($0)" }
                lines.append("")
            }
        }
        return lines
    }
}
