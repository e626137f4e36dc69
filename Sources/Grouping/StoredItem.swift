import Timeline
package import Tracking

// How the parts of an item write themselves as JSON: their rows are written with each message and each end of a run.
//
// The same bytes as by `Codable`, which reads them; what is added to one of these types is added here.

extension Appearance: JSONWritable {
    /// Writes what is set.
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("icon", icon)
            writer.member("soundName", soundName)
            writer.member("category", category)
            writer.member("expireAfter", expireAfter)
            if let links {
                writer.name("links")
                writer.array { writer in for link in links { link.write(to: &writer) } }
            }
        }
    }
}

extension PageLink: JSONWritable {
    /// Writes both.
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("label", label)
            writer.member("url", url)
        }
    }
}

extension Message: JSONWritable {
    /// Writes a message without what it shares with most.
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("id", id)
            writer.member("bot", bot)
            writer.member("thread", thread)
            if author != .bot { writer.member("author", author.rawValue) }
            writer.member("text", text)
            writer.member("at", at)
            if urgency != .normal { writer.member("urgency", urgency.rawValue) }
            writer.member("title", title)
            if appearance != Appearance() { writer.member("appearance", appearance) }
            writer.member("replaceKey", replaceKey)
            writer.member("run", run)
        }
    }
}

extension Pace: JSONWritable {
    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("flushAt", flushAt)
            writer.member("flushedAt", flushedAt)
        }
    }
}

extension Ring: JSONWritable {
    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("at", at)
            writer.member("urgency", urgency.rawValue)
        }
    }
}

extension NextTry: JSONWritable {
    /// Writes the moment and the offset.
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("at", at)
            writer.member("offsetSeconds", offsetSeconds)
        }
    }
}

extension JobFact: JSONWritable {
    /// Writes what is known.
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("run", run)
            writer.member("state", state.rawValue)
            writer.member("reason", reason?.rawValue)
            writer.member("exitCode", exitCode)
            writer.member("signal", signal)
            writer.member("progress", progress)
            writer.member("phase", phase)
            writer.member("text", text)
            writer.member("outlook", outlook)
            writer.member("lasted", lasted)
            writer.member("took", took)
            writer.member("limit", limit)
            writer.member("next", next)
            writer.member("slots", slots)
            writer.member("at", at)
            writer.member("urgency", urgency?.rawValue)
        }
    }
}

extension JobReport: JSONWritable {
    /// Writes the report.
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("job", job)
            writer.member("news", news.rawValue)
            writer.member("fact", fact)
            writer.member("sameFailures", sameFailures)
            writer.member("failures", failures)
            writer.member("outage", outage)
        }
    }
}

extension FailureSignature: JSONWritable {
    /// Writes what makes the failure.
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("state", state.rawValue)
            writer.member("reason", reason?.rawValue)
            writer.member("exitCode", exitCode)
            writer.member("signal", signal)
            writer.member("words", words)
        }
    }
}

extension Outage: JSONWritable {
    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("since", since)
            writer.member("failures", failures)
            writer.member("sameFailures", sameFailures)
            writer.member("signature", signature)
        }
    }
}

extension RecentRuns: JSONWritable {
    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("newest", newest)
            writer.member("ended", ended)
        }
    }
}

extension ItemSnapshot {
    /// Writes the members of the version's object.
    ///
    /// - Throws: `EncodingError` for a number that is not one.
    package func write(to writer: inout JSONWriter) throws {
        writer.member("key", key.description)
        writer.member("revision", revision)
        writer.member("bot", bot)
        writer.member("urgency", urgency.rawValue)
        writer.member("reason", reason.rawValue)
        writer.member("at", at)
        writer.member("isDismissed", isDismissed)
        try writer.member("content") { writer throws in
            switch content {
            case .messages(let count, let last):
                writer.member("messages") { writer in
                    writer.member("count", count)
                    writer.name("last")
                    writer.array { writer in for message in last { message.write(to: &writer) } }
                }
            case .job(let report): writer.member("job") { $0.member("_0", report) }
            case .storm(let report): try writer.member("storm") { try $0.member("_0", encoding: report) }
            case .question(let question):
                try writer.member("question") { try $0.member("_0", encoding: question) }
            }
        }
    }
}
