/// What happens to a slot, or a request, that comes while a run of the job has not ended.
///
/// Runs count from queued to stalled, the wait for another attempt included.
package enum OverlapPolicy: String, Hashable, Sendable, Codable, CaseIterable {
    /// It is skipped, with reason `overlap`; a request is refused.
    case skip
    /// It waits for the end of the run under way; one that waited already gives way to it.
    case queueOne = "queue-one"
    /// It waits for the end of all that came before.
    case queueAll = "queue-all"
    /// The run under way is ended, and it runs after that.
    case replace
    /// It runs beside the others.
    case allow
}
