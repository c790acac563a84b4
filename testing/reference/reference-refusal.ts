/** The original would not have taken this event. */
export class ReferenceRefusal extends Error {
  override readonly name = "ReferenceRefusal";
}
