// Package images loads the images of a transcript that are on the screen. [Images] follows the transcript and the connection; it knows neither the view nor the keys.
package images
