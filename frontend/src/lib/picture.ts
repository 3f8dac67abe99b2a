/** What is drawn on a picture before it is attached, in pixels of it. */
export interface Shape {
  kind: 'frame' | 'arrow' | 'black';
  x: number;
  y: number;
  w: number;
  h: number;
}

export interface Area {
  x: number;
  y: number;
  w: number;
  h: number;
}

/** An area whose corners are where a drag began and is, whichever way it went. */
export const between = (x0: number, y0: number, x1: number, y1: number): Area => ({ x: Math.min(x0, x1), y: Math.min(y0, y1), w: Math.abs(x1 - x0), h: Math.abs(y1 - y0) });

/** The area within a picture, in whole pixels, at least one of them each way. */
export function within(area: Area, width: number, height: number): Area {
  const x = Math.min(Math.max(0, Math.round(area.x)), width - 1);
  const y = Math.min(Math.max(0, Math.round(area.y)), height - 1);
  return { x, y, w: Math.min(Math.max(1, Math.round(area.w)), width - x), h: Math.min(Math.max(1, Math.round(area.h)), height - y) };
}

/** Draws the picture with its shapes, and returns the cropped part as a PNG. What was masked is gone from it. */
export async function drawn(image: CanvasImageSource, shapes: readonly Shape[], crop: Area, color: string): Promise<Blob> {
  const canvas = document.createElement('canvas');
  canvas.width = crop.w;
  canvas.height = crop.h;
  const c = canvas.getContext('2d');
  if (!c) throw new Error('this page cannot draw');
  c.translate(-crop.x, -crop.y);
  c.drawImage(image, 0, 0);
  // Black comes first: no mark may be hidden under it.
  for (const shape of shapes.toSorted((a, b) => Number(b.kind === 'black') - Number(a.kind === 'black'))) draw(c, shape, color);
  return new Promise((resolve, reject) => canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error('the picture cannot be made'))), 'image/png'));
}

function draw(c: CanvasRenderingContext2D, { kind, x, y, w, h }: Shape, color: string): void {
  c.strokeStyle = c.fillStyle = kind === 'black' ? '#000' : color;
  c.lineWidth = 3;
  if (kind === 'black') return c.fillRect(Math.min(x, x + w), Math.min(y, y + h), Math.abs(w), Math.abs(h));
  if (kind === 'frame') return c.strokeRect(x, y, w, h);
  const [tip, left, right] = head({ x, y, w, h });
  c.beginPath();
  c.moveTo(x, y);
  c.lineTo(tip[0], tip[1]);
  c.moveTo(left[0], left[1]);
  c.lineTo(tip[0], tip[1]);
  c.lineTo(right[0], right[1]);
  c.stroke();
}

/** The tip of an arrow and the two ends of its barbs. */
export function head({ x, y, w, h }: Area): [tip: [number, number], left: [number, number], right: [number, number]] {
  const angle = Math.atan2(h, w);
  const size = Math.min(18, Math.hypot(w, h) / 2 + 4);
  const barb = (turn: number): [number, number] => [x + w - size * Math.cos(angle + turn), y + h - size * Math.sin(angle + turn)];
  return [[x + w, y + h], barb(0.5), barb(-0.5)];
}
